#include "sched/report/question.h"

#include "arch/sanitizer.h"
#include "os/os.h"
#include "sched/life/call.h"
#include "sched/report/question_slots.h"
#include "sched/state.h"

namespace vole::rt {

constinit question_slot question_slots[kSlots];

namespace {

constexpr std::int64_t kAnswerWithin = 500 * 1000 * 1000;  // ns, for all of them together

constinit atomic<std::uint32_t> last_ticket{0};

int signal_number() noexcept { return static_cast<int>(sched.settings.preempt_signal); }

// A slot that is free, for us alone. 0: there is none.
std::uint32_t take_slot() noexcept {
  for (std::uint32_t tries = 0; tries < kSlots; ++tries) {
    const std::uint32_t ticket = (last_ticket.fetch_add(1, relaxed) + 1) & kTickets;
    if (ticket == 0) continue;
    question_slot& s = slot_of(ticket);
    std::uint32_t seen = s.word.load(relaxed);
    if (question_slot::state_in(seen) == slot_state::free &&
        s.word.compare_exchange_strong(seen, question_slot::word_of(ticket, slot_state::filling),
                                       seq_cst))
      return ticket;
  }
  return 0;
}

void free_slot(std::uint32_t ticket) noexcept {
  slot_of(ticket).word.store(question_slot::word_of(ticket, slot_state::free), seq_cst);
}

}  // namespace

M* thread_of(const G& g) noexcept {
  M* found = nullptr;
  m_slab.for_each([&](M* m) {
    if (m->alive.load(std::memory_order_acquire) && goroutine_on(*m) == &g) found = m;
  });
  return found;
}

questions::sent questions::ask(M& m, const G& g, std::size_t tag) noexcept {
  if (n_ == kMost) return sent::no;
  const std::uint64_t tid = m.tid.load(relaxed);
  if (os::state_of(tid) == os::thread_state::sleeping) return sent::asleep;
  if (arch::kThreadSanitizer) return sent::no;
  if (!os::install_question_handler(signal_number(), &on_question)) return sent::no;
  const std::uint32_t ticket = take_slot();
  if (ticket == 0) return sent::no;
  question_slot& s = slot_of(ticket);
  s.g = &g;
  s.id = g.id;
  s.change(ticket, slot_state::filling, slot_state::asked);
  std::uint32_t none = 0;
  const bool alone = m.question.compare_exchange_strong(none, ticket, seq_cst);
  asked_[n_++] = {&m, ticket, tag};
  if (alone && os::ask_thread(tid, signal_number())) return sent::yes;
  drop(asked_[--n_]);
  return sent::no;
}

void questions::wait() noexcept {
  const std::int64_t until = os::now_ns() + kAnswerWithin;
  for (std::size_t i = 0; i < n_; ++i) {
    question_slot& s = slot_of(asked_[i].ticket);
    for (;;) {
      const std::uint32_t seen = s.word.load(std::memory_order_acquire);
      if (question_slot::state_in(seen) == slot_state::answered) break;
      const std::int64_t left = until - os::now_ns();
      if (left <= 0) return;
      futex_wait_for(&s.word, seen, left);
    }
  }
}

bool questions::answer_to(const pending& p, answer* a) noexcept {
  const question_slot& s = slot_of(p.ticket);
  if (!s.is(p.ticket, slot_state::answered) || s.n == 0) return false;
  *a = {s.frames, s.n, s.sp};
  return true;
}

// The handler may be anywhere: before it, in it, behind it.
void questions::drop(const pending& p) noexcept {
  question_slot& s = slot_of(p.ticket);
  std::uint32_t mine = p.ticket;
  p.m->question.compare_exchange_strong(mine, 0, seq_cst);
  if (s.change(p.ticket, slot_state::asked, slot_state::free)) return;
  if (s.change(p.ticket, slot_state::answering, slot_state::left)) return;
  free_slot(p.ticket);  // answered
}

void questions::give_up() noexcept {
  for (std::size_t i = 0; i < n_; ++i) drop(asked_[i]);
  n_ = 0;
}

}  // namespace vole::rt
