// VOLE_DEBUG=schedtrace=MS[,scheddetail=1]: what the scheduler does, on stderr, every MS
// milliseconds, in Go's words.
//
// The line is read under L: each number is true, those that change without L need not be of one
// instant. The page of scheddetail is of one: the world is stopped while it is put together, and
// has started again before it is written. What plain threads are about to queue is in neither.
//
// Who    sysmon.
// Law    no malloc, no stdio: a fixed buffer and write(2). Goroutines that do not fit are counted.
// Note   a stderr that nobody reads stops sysmon in write(2) once it is full, as it would any
//        program.
#pragma once

#include <cstdint>

namespace vole::rt::schedtrace {

void begin(std::int64_t now) noexcept;  // a runtime starts
// Writes, if it is time. Takes L, or stops the world.
void look(std::int64_t now) noexcept;
std::int64_t due() noexcept;  // ns; when there is the next to write; kNoTimer: never

}  // namespace vole::rt::schedtrace
