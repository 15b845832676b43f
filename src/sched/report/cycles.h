// Goroutines that wait for each other in a circle: for a mutex that the next one holds, for the end
// of the next one (join), or for a wait group that counts it.
//
// Who    dumps, after the world runs again: from a picture. The `vole` command: of another program.
// Where  no malloc: memory comes from the kernel; without it nothing is said.
// Law    a wait for a group waits for several goroutines at once; if one of them leads back, that is
//        enough for a circle that nobody gets out of.
// Law    a goroutine that locks a mutex which it holds already waits for itself: a circle of one.
// Note   the holder of a mutex is a conclusion (holders.h): the text says "probably". The goroutine
//        that is joined is known: its record begins with the address of what its join_handle waits
//        on. A wait group's goroutines are those whose function begins with the group's address, as
//        that of wait_group::go and of go([&group] {...}) does.
// Proof  tests/crash/report_test.cc
#pragma once

#include "sched/report/captured.h"
#include "sched/report/frames.h"

namespace vole::rt {

// "goroutine 3 waits for mutex 0x..., probably held by goroutine 5, which joins goroutine 3\n" for
// each circle, some at most.
void put_cycles(const captured_set& c, text_sink out, void* arg) noexcept;

}  // namespace vole::rt
