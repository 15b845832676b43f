// A pool's lists: one per processor, more or less. Not for users.
//
// Who    any goroutine or plain thread, in user context; no lock of the runtime is taken.
// Law    a node is in at most one list, and belongs to the caller that took it off.
// Note   which shard comes first is a hint: the goroutine may be on another processor by
//        the time it looks. A shard whose lock is taken is passed over: its holder may
//        have been descheduled.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

struct pool_node {
  pool_node* next = nullptr;
};

class pool_shards {
 public:
  constexpr pool_shards() noexcept = default;
  pool_shards(const pool_shards&) = delete;
  pool_shards& operator=(const pool_shards&) = delete;

  pool_node* take() noexcept;  // own shard first, then the others; nullptr: found none
  void put(pool_node* n) noexcept;
  pool_node* take_any() noexcept;  // nobody else uses the pool any more; nullptr: empty

 private:
  static constexpr std::size_t kShards = 16;

  struct alignas(64) shard {
    std::atomic<bool> busy{false};
    std::atomic<pool_node*> first{nullptr};  // written by who is busy; a hint to the others

    bool try_lock() noexcept { return !busy.exchange(true, std::memory_order_acquire); }
    void unlock() noexcept { busy.store(false, std::memory_order_release); }
  };

  shard shards_[kShards];
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
