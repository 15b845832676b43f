// Callers that must not park: libraries that keep state of their own in each thread, which another
// goroutine on the same thread would find half done.
//
// Law    a caller is known by the object that its return address lies in. The list is by names of
//        files, each a beginning: libgrpc means libgrpc.so.29 and libgrpc++.so.1. VOLE_HOOKS_BLOCKING
//        replaces the list; empty: there are none.
// Note   a library that is linked statically lies in the program and is not known.
#pragma once

#include "hooks/call.h"

namespace vole::hooks {

bool must_not_park(const caller& by) noexcept;

}  // namespace vole::hooks
