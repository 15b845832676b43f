// The runtime's phases, and the guests that may be inside when they change.
//
// Law    stopped -> running -> stopping -> stopped. A guest (plain thread) that
//        has entered keeps the phase from passing through stopping; one that comes
//        during stopping waits until it is over.
// Note   a forked child has no runtime: every call is fatal there, with a sentence.
#pragma once

#include <cstdint>

namespace vole::rt::lifecycle {

enum class phase : std::uint32_t { stopped, running, stopping, forked };

phase now() noexcept;
void set(phase p) noexcept;          // wakes guests that wait for the end of stopping
void wait_for_guests() noexcept;     // after set(stopping): until the last guest has left

void watch_forks() noexcept;         // takes effect once per process
void refuse_forked_child() noexcept;
bool is_guest() noexcept;            // the calling thread is between guest_enter and guest_leave
// A short stay of any thread. True: a runtime runs, and does not end before end_visit.
bool visit() noexcept;
void end_visit() noexcept;
bool is_zombie() noexcept;           // the calling thread is an M that a dead runtime left

}  // namespace vole::rt::lifecycle
