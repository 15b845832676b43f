// Goroutines that are still in user code when their runtime ends. Not for users.
//
// Such a goroutine sleeps for ever in its next call of vole. What enters the runtime finds no P
// there. What does not, because it is a few instructions here in a header or only reads something,
// looks at this word instead.
//
// Law    a call that changes something (unlock, release, done) does so first, and then sleeps:
//        plain threads may be waiting for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace vole::rt {

// How many threads runtimes have left in user code, less those that sleep since; and one more while
// a runtime ends. Almost always 0.
[[gnu::visibility("default")]] extern std::atomic<std::uint32_t> left_behind;

// Sleeps for ever if the runtime of this thread's goroutine is ending, or has ended.
[[gnu::visibility("default")]] void sleep_if_left_behind() noexcept;

}  // namespace vole::rt

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

inline std::uint32_t left_behind() noexcept {
  return rt::left_behind.load(std::memory_order_relaxed);
}
inline void end_if_left_behind() noexcept {
  if (left_behind() != 0) [[unlikely]]
    rt::sleep_if_left_behind();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
