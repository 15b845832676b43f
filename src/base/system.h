// The few system calls that base itself needs.
//
// Who    base. Other rooms use the futex and the pages from here, and os/os.h for the rest.
// Where  anywhere, signal handlers included.
// Note   declared here, defined in os/linux: base lies below os and may not
//        include it. tests/model defines the futex pair itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"

namespace vole::base {

// Sleeps while *word == expected; may return early for no reason.
void futex_wait(atomic<std::uint32_t>* word, std::uint32_t expected) noexcept;
// The same, for at most `ns` nanoseconds. False: the time is over.
bool futex_wait_for(atomic<std::uint32_t>* word, std::uint32_t expected,
                    std::int64_t ns) noexcept;
// Wakes up to n sleepers. The word may already be gone: only its address is used.
void futex_wake(atomic<std::uint32_t>* word, int n) noexcept;

// A full fence on every core that runs a thread of ours: some 10 us. False: not on this kernel.
bool membarrier() noexcept;

// Microseconds of the monotonic clock, modulo 2^32.
std::uint32_t clock_us() noexcept;

// Zeroed pages straight from the kernel; nullptr if it refuses.
void* map_pages(std::size_t bytes) noexcept;
void unmap_pages(void* pages, std::size_t bytes) noexcept;

// Writes all of it to stderr, as far as that goes. Signal-safe.
void write_stderr(const char* text, std::size_t size) noexcept;

}  // namespace vole::base
