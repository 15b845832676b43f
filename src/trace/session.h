// A trace being recorded: begin it, end it. docs/tracing.md has it for users.
//
// One session at a time: a file that is written as the program runs, or a flight recorder's ring.
// It belongs to the process, not to a runtime: it may begin before one runs and go on when the next
// one starts. A plain thread of its own (writer.cc) cuts time into generations and writes.
//
// Who    any thread in user context, goroutines included; not from inside the runtime.
// Law    errors are returned: device_or_resource_busy: a session runs already; no_such_process: none
//        does; operation_not_permitted: in a forked child; otherwise what the system said.
// Note   a goroutine that calls these occupies its thread meanwhile; api/trace.cc tells the scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <system_error>

namespace vole::rt::trace {

enum class kind : std::uint8_t { none, file, ring };

// Writes a whole trace to fd, which belongs to the session from now on, also if this fails: a file, a
// pipe, a socket. Nothing but the end of the session needs to seek there.
std::error_code start_on(int fd) noexcept;
// The same, to a file that it makes or empties.
std::error_code start_file(const char* path) noexcept;
// Ends the trace to a file or descriptor: what was recorded is complete and named, the descriptor is
// closed. The first error of those that happened while it was written, if any.
std::error_code finish() noexcept;

struct recorder {
  std::size_t bytes;        // of the ring
  std::int64_t window_ns;   // generations that ended longer ago are forgotten
  const char* ring;         // a file to keep it in; null: memory of the process
};
std::error_code start_recorder(const recorder& r) noexcept;
std::error_code finish_recorder() noexcept;
// The complete generations that the ring holds, as a trace. The recorder goes on.
std::error_code write_snapshot(const char* path) noexcept;

kind running() noexcept;

}  // namespace vole::rt::trace
