// Calls that block their thread, said so by who makes them [23], [24].
//
// Who    api; on a goroutine, user context.
// Law    the P stays attached until somebody needs it: then sysmon takes it (slices.h). Afterwards
//        the goroutine takes an idle one, if there is one, or goes on without: like everybody
//        else who was evicted it gets one when it next needs one [24].
// Note   user code needs no P, so that beginning a call is little more than one store: the mark by
//        which sysmon knows that it need not ask the CPU clock. It is the thread's and of one
//        slice: a call within a call, or one that parks, ends it early. sysmon then finds out by
//        itself.
#pragma once

namespace vole::rt {

void begin_call() noexcept;
void end_call() noexcept;

}  // namespace vole::rt
