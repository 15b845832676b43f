// The reporter: a plain thread that prints what others have asked for. A dump for SIGQUIT, whose
// handler may not print it; the stack of a goroutine that stalls, which sysmon may not name.
//
// Who    ask_for_dump: the handler of SIGQUIT. report_stall: sysmon. start, dump_on_sigquit: user
//        context, or boot.
// Where  reporter_main: a thread of its own, every signal blocked. It comes in as a guest, so the
//        runtime does not end under it, and is outside while names are looked up and text is written.
// Law    it takes no P and is in nobody's way: it works when every P spins. It waits for threads
//        that it asks no longer than question.h says.
// Note   started when it is first needed, and then there until the process ends, between runtimes,
//        too. It is no hope for goroutines that wait (deadlock.h).
// Note   several SIGQUITs that come while a dump is being written are one.
// Note   fork: the child has no reporter, and SIGQUIT its default action (os/linux/quit_sig.cc).
// Proof  tests/crash/report_test.cc, tests/stress/report_stress_test.cc
#pragma once

#include <cstdint>

#include "gmp/m.h"

namespace vole::rt::reporter {

int start() noexcept;              // 0 or errno
std::uint32_t threads() noexcept;  // it counts as one: 0 or 1
int dump_on_sigquit() noexcept;    // starts it and installs the handler; 0 or errno
void ask_for_dump() noexcept;      // signal-safe

void new_runtime() noexcept;  // what was reported of the last one is forgotten
// The goroutine `id` on m has not yielded for that long. False: busy with the last one.
bool report_stall(M& m, std::uint64_t id, std::int64_t ns) noexcept;

}  // namespace vole::rt::reporter
