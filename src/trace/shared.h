// The state that the parts of this room share: the generation, thread 0, and the writer's wake word.
#pragma once

#include <cstdint>

#include "arch/ticks.h"
#include "base/lock.h"
#include "gmp/traced.h"
#include "trace/format.h"

namespace vole::rt::trace {

// A generation's stamp is twice its number, plus one if nothing is kept of it: before the first and
// after the last of a session. Numbers are never used twice; a file's begin at 1.
struct shared_state {
  atomic<std::uint32_t> stamp{1};
  atomic<std::uint32_t> first_number{0};  // of this session
  atomic<int> shift{2};                   // processor ticks to ticks: right if positive
  atomic<std::uint32_t> frames{1};        // how many program counters a place has
  atomic<std::int64_t> skew{0};
  atomic<std::uint64_t> lost[2]{};  // by number

  base::lock<lock_rank::events> lock;  // thread 0
  traced thread0;                      // under lock

  alignas(64) atomic<std::uint32_t> wake_word{0};  // futex word of the writer
  atomic<std::uint32_t> asleep{0};
  atomic<std::uint32_t> cuts_wanted{0};
  atomic<std::uint32_t> full{0};  // chunks that wait for it, roughly
};
extern shared_state shared;

inline bool is_discarded(std::uint32_t stamp) noexcept { return (stamp & 1) != 0; }
inline std::uint32_t generation_of(std::uint32_t stamp) noexcept {
  return (stamp >> 1) - shared.first_number.load(relaxed) + 1;
}

// Has this thread not written anything in this session yet? (The generation before the first counts:
// there it has seen that there is one.)
inline bool is_new_here(std::uint32_t last_stamp) noexcept {
  return (last_stamp >> 1) + 1 < shared.first_number.load(relaxed);
}

inline std::uint64_t scaled_ticks() noexcept {
  const int shift = shared.shift.load(relaxed);
  const std::uint64_t raw = arch::ticks();
  return shift >= 0 ? raw >> shift : raw << -shift;
}

void wake_writer() noexcept;  // always
void wake_writer_if_asleep() noexcept;

// One thread's chunk of the generation before is the writer's now.
void submit(chunk_header* full) noexcept;
// Thread 0 leaves the generation: the writer.
void move_thread0(std::uint32_t stamp) noexcept;
void forget_thread0() noexcept;  // a forked child

}  // namespace vole::rt::trace
