// pollable: waits that a context ends (sched/wait/interrupt.h).
//
// Who    claim_*: under the context's lock. wake_*: inside the runtime, with no lock held.
// Law    for an event: `said` is set, then the waiter is taken off the file's word. That waiter is the
//        one whose context this is: it holds the lock of that way for as long as this is armed.
//
//     waits (wait.cc)                       the context
//     armed; word = wait                    said = true
//     said? undo                            word -> nil, and takes the waiter, if one is there
//     park; word = waiter                   (the commit fails: go on)
//
// Law    for a turn: the context and the party that hands the lock over (take_locked) compete for
//        `winner`; the one that changes it has the place in the queue.

#include "net/pollable.h"

namespace vole {
inline namespace v0 {
namespace detail {

bool pollable::arm_for_event(stop& i, way w) noexcept {
  i.claim = &claim_event;
  i.fire = &wake_from_event;
  i.file = this;
  i.w = w;
  if (i.context->arm(i)) return true;
  i.said.store(true, seq_cst);
  return false;
}

// Under guard_.
bool pollable::arm_for_turn(stop& i, way w, waiter* me) noexcept {
  i.claim = &claim_place;
  i.fire = &wake_from_line;
  i.file = this;
  i.w = w;
  i.whom = me;
  me->winner = &i.winner;
  return i.context->arm(i);
}

void pollable::disarm(stop* i) noexcept {
  if (i != nullptr) i->context->disarm(*i);
}

bool pollable::claim_event(rt::interrupt& i, M*) noexcept {
  auto& mine = static_cast<stop&>(i);
  mine.said.store(true, seq_cst);
  mine.whom = rt::poll::unblock(*mine.file->descriptor_, mine.w, false);
  return mine.whom != nullptr;
}

void pollable::wake_from_event(rt::interrupt& i, M* m) noexcept {
  rt::wake(m, static_cast<stop&>(i).whom, 0);
}

bool pollable::claim_place(rt::interrupt& i, M*) noexcept {
  return rt::claim(static_cast<stop&>(i).whom);
}

void pollable::wake_from_line(rt::interrupt& i, M* m) noexcept {
  auto& mine = static_cast<stop&>(i);
  pollable& file = *mine.file;
  waiter* const whom = mine.whom;
  auto& s = *static_cast<stay*>(whom->slot);
  file.unqueue(whom, s);
  s.has = stay::having::nothing;
  whom->object = &file;  // until it is back
  rt::wake(m, whom, kStopped);
}

pollable::outcome pollable::acquire(way w, rt::interrupter* by) noexcept {
  std::uint64_t seen = word_.load(relaxed);
  while ((seen & (kClosing | locked(w))) == 0)
    if (word_.compare_exchange_strong(seen, (seen | locked(w)) + kOne, base::acquire, relaxed))
      return outcome::go_on;
  if ((seen & kClosing) != 0) return outcome::closed;
  if (by == nullptr) return acquire_slow(w) ? outcome::go_on : outcome::closed;
  stop ends(by);
  const std::uintptr_t what = queue(w, &ends);
  if (what == kYours) return outcome::go_on;
  if (what != kClosed) unuse();
  return what == kStopped ? outcome::canceled : outcome::closed;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
