// The chunks that events are written into: slots of one size, in memory of their own, as many as there
// are. A flight recorder's ring is such memory, shared with a file.
//
// Who    take, submit: threads that write events. The rest: the writer.
// Where  inside the runtime too, under any lock of a lower rank.
// Law    a slot is free, in the hands of one thread, full, or the writer's. Only the writer frees.
//        The last kLast free ones are for begins and ends of generations alone: where threads have
//        taken all others, a generation still ends, and says what was lost.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/format.h"

namespace vole::rt::trace::pool {

inline constexpr std::uint32_t kSlotBytes = 16 * 1024;
inline constexpr std::uint32_t kLast = 2;  // one generation begins, then the one before it ends

// `memory`: zeroed, slots * kSlotBytes. 0 or errno.
int open(std::byte* memory, std::uint32_t slots) noexcept;
void close() noexcept;   // nobody has any
void forget() noexcept;  // a forked child: it has none

chunk_header* take() noexcept;  // nullptr: there is none left, or only the last ones
// Returns how many wait for the writer now.
std::uint32_t submit(chunk_header* full) noexcept;

// ── the writer ──
chunk_header* take_last() noexcept;  // for a begin or an end
chunk_header* next_full() noexcept;  // in the order of submission; nullptr: no more
void free(chunk_header* done) noexcept;
std::uint32_t left() noexcept;  // free ones
std::uint32_t slots() noexcept;

}  // namespace vole::rt::trace::pool
