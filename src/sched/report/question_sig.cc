// The answer, in the signal handler: question.h.
//
// Where  signal context, on the M's alternate stack (or on the goroutine's, if the program has put
//        another handler over ours and calls it), every signal blocked.

#include "arch/interrupted.h"
#include "arch/thread_word.h"
#include "base/system.h"
#include "sched/report/question_slots.h"
#include "walk/walk.h"

namespace vole::rt {

std::size_t walk_interrupted(const G& g, const void* context, std::uintptr_t* out, std::size_t most,
                             std::uintptr_t* sp) noexcept {
  const arch::interrupted i = arch::interrupted_by(context);
  const auto from = reinterpret_cast<std::uintptr_t>(g.stack.lo);
  const walk::memory stack{from, from + g.stack.bytes};
  *sp = i.at.at[arch::kStackPointer];
  if (from == 0 || *sp < stack.from || *sp >= stack.to) return 0;
  walk::cursor c{i.at, i.pc, true};
  std::size_t n = 0;
  out[n++] = i.pc + 1;  // frames are where calls return to: behind the instruction that counts
  while (n < most && walk::step(c, stack, nullptr)) out[n++] = c.exact ? c.pc + 1 : c.pc;
  return n;
}

void on_question(const void* context) noexcept {
  M* const m = arch::this_m();
  if (m == nullptr) return;
  const std::uint32_t ticket = m->question.exchange(0, seq_cst);
  if (ticket == 0) return;
  question_slot& s = slot_of(ticket);
  if (!s.change(ticket, slot_state::asked, slot_state::answering)) return;  // too late
  const G* const g = m->curg;
  s.n = g != nullptr && g == s.g && g->id == s.id
            ? walk_interrupted(*g, context, s.frames, kMostFrames, &s.sp)
            : 0;
  if (s.change(ticket, slot_state::answering, slot_state::answered)) {
    base::futex_wake(&s.word, 1);
  } else {
    s.change(ticket, slot_state::left, slot_state::free);
  }
}

}  // namespace vole::rt
