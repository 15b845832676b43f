// The control socket, as boot and the search for deadlocks see it. The room src/control, above this
// one, provides these: it asks things of the scheduler, which knows of it only that it comes and goes.
//
// Who    start, stop: boot, under its lock, while no runtime runs or while one still does.
// Law    its thread is no hope for goroutines that wait (deadlock.h).
#pragma once

#include <cstdint>

namespace vole::rt::control {

void start() noexcept;             // a refusal is a sentence on stderr; the program goes on without
void stop() noexcept;              // its thread has ended, and the socket is gone
std::uint32_t threads() noexcept;  // 0 or 1

}  // namespace vole::rt::control
