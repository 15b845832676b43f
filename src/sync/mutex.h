// The functions of a mutex that condition_variable and the bounded waits call.
#pragma once

#include "sync/waiting.h"

namespace vole {
inline namespace v0 {
namespace detail {

inline constexpr std::uintptr_t kCompete = 0, kOwner = 1;  // wake values

// Locked. True: it is ours. False: queue; `waiting` is set.
bool mutex_take_locked(waitable& s, mutex_attempt& mine) noexcept;
void mutex_queue_locked(waitable& s, mutex_attempt& mine, waiter* w) noexcept;

// unlock(), inside the runtime and in commits. Does not yield.
void mutex_unlock_inside(waitable& s, M* m) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
