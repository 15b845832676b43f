// wait_group's memory and its slow paths. Not for users.
#pragma once

#include <atomic>
#include <cstdint>

namespace vole::rt {
struct waiter;
}

namespace vole {
inline namespace v0 {
namespace detail {

// Those who wait on an object, in order. Guarded by the object's lock.
struct wait_list {
  rt::waiter* first = nullptr;
  rt::waiter* last = nullptr;
};

// count << 32 | flags. The flags: see src/sync/wait_group.cc.
struct wait_group_state {
  std::atomic<std::uint64_t> word{0};
  wait_list waiters;
};

void wait_group_add_slow(wait_group_state& s, std::uint64_t old, std::int32_t n) noexcept;
void wait_group_wait_slow(wait_group_state& s) noexcept;
[[noreturn]] void wait_group_destroyed() noexcept;

}  // namespace detail

}  // namespace v0
}  // namespace vole
