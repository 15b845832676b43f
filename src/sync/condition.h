// condition_variable: the parts that all of its waits share.
//
// Who    condition_variable.cc, condition_bounded.cc.
#pragma once

#include "sync/waitable.h"

namespace vole {
inline namespace v0 {
namespace detail {

// Into the runtime, to wait. If the goroutine is abandoned on its way in, the mutex is unlocked.
M* condition_enter(waitable& held_mutex) noexcept;
// Under the condition's lock. The waiter's slot: the mutex.
void condition_queue_locked(waitable& s, waiter* w, waitable& mutex) noexcept;
// The commit: arg is the condition, the slot of the goroutine's own waiter the mutex.
bool condition_unlock_both(rt::G* g, void* condition) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
