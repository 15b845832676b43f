// The messages of this room when one of its objects is used wrongly: each says what happened, to which
// object, who did it, and what to do instead.
//
// Who    src/sync, in user context; a lock of the object may be held.
#pragma once

#include "base/fatal.h"
#include "gmp/g.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
namespace detail {

// "latch: <what> (goroutine 7, the latch at 0x7f10). <advice>". A null object is not named.
[[noreturn]] inline void misused(const char* kind, const char* what, const void* object,
                                 const char* advice) noexcept {
  base::sentence s;
  s << kind << ": " << what << " (";
  if (const rt::G* const g = rt::this_goroutine(); g != nullptr) {
    s << "goroutine " << g->id;
  } else {
    s << "a plain thread";
  }
  if (object != nullptr)
    (s << ", the " << kind << " at ").hex(reinterpret_cast<std::uintptr_t>(object));
  s << "). " << advice;
  base::fatal(s);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
