// The slots that questions and answers lie in (question.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "sched/report/capture.h"
#include "sched/report/question.h"

namespace vole::rt {

enum class slot_state : std::uint32_t { free, filling, asked, answering, answered, left };

struct question_slot {
  atomic<std::uint32_t> word{0};  // futex word: ticket and state
  const G* g = nullptr;           // the goroutine in question: written before `asked`
  std::uint64_t id = 0;
  std::size_t n = 0;  // written before `answered`
  std::uintptr_t sp = 0;
  std::uintptr_t frames[kMostFrames] = {};

  static std::uint32_t word_of(std::uint32_t ticket, slot_state s) noexcept {
    return ticket << 3 | static_cast<std::uint32_t>(s);
  }
  static slot_state state_in(std::uint32_t word) noexcept {
    return static_cast<slot_state>(word & 7);
  }
  bool is(std::uint32_t ticket, slot_state s) const noexcept {
    return word.load(std::memory_order_acquire) == word_of(ticket, s);
  }
  bool change(std::uint32_t ticket, slot_state from, slot_state to) noexcept {
    std::uint32_t seen = word_of(ticket, from);
    return word.compare_exchange_strong(seen, word_of(ticket, to), seq_cst);
  }
};

inline constexpr std::uint32_t kSlots = 128;  // a power of two: the ticket's lowest bits
inline constexpr std::uint32_t kTickets = (std::uint32_t{1} << 29) - 1;
static_assert(kSlots == questions::kMost);

extern question_slot question_slots[kSlots];

inline question_slot& slot_of(std::uint32_t ticket) noexcept {
  return question_slots[ticket % kSlots];
}

}  // namespace vole::rt
