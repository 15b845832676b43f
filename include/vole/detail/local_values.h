// The values that local<T> keeps for one goroutine or one plain thread. Not for users.
#pragma once

#include <atomic>
#include <cstdint>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

struct local_value {
  std::uint64_t key = 0;
  local_value* chain = nullptr;  // the next with the same hash
  local_value* older = nullptr;  // the one made before
  // Gives the memory back, having destroyed the value or not.
  void (*end)(local_value* self, bool destroy) noexcept = nullptr;
};

// A local's name: given on first use, never to another one, so that a local made later at the same
// address does not find its values.
class local_key {
 public:
  constexpr local_key() noexcept = default;
  std::uint64_t get() noexcept {
    const std::uint64_t k = key_.load(std::memory_order_relaxed);
    return k != 0 ? k : choose();
  }

 private:
  std::uint64_t choose() noexcept;
  std::atomic<std::uint64_t> key_{0};
};

local_value* find_local_value(std::uint64_t key) noexcept;  // nullptr: not made yet
void add_local_value(local_value* v);                       // throws std::bad_alloc

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
