// VOLE_DEBUG=stall=MS: reports goroutines that have not yielded for MS milliseconds.
//
// sysmon notices them by the same signs as when it takes Ps: nothing was switched on the M's P, the M
// has not come back for one that was taken, the goroutine is the same. The reporter, a plain thread,
// asks for the stack and prints it (reporter.h): names take malloc, which sysmon must not touch.
//
// Who    sysmon.
// Law    no malloc, no lock but those of the slabs. Without the setting it is one test.
// Note   a goroutine that calls yield() while nobody else waits is not switched. So after half the time
//        the M is asked to attend: a goroutine that calls vole at all is then switched, and one that is
//        reported has not called it. A goroutine in blocking() has said that it blocks, and one that
//        strict mode has captured does not run: neither is reported.
// Note   kWatched threads at most are told apart; of two that share a place the later one counts.
#pragma once

#include <cstdint>

namespace vole::rt::stall {

void begin() noexcept;  // a runtime starts
void look(std::int64_t now) noexcept;
std::int64_t due() noexcept;  // ns; when to look again; kNoTimer: nobody is watched

}  // namespace vole::rt::stall
