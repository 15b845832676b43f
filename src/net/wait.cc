// pollable: waiting, and the clock.
//
// Who    wait: the holder of the lock of that way. set_deadline: anybody. fire: g0.
// Law    deadline_ and pause_ are times that every wait compares with the clock. The timer
//        only ends a wait that is on: it is started by the waiter, or by a set_deadline
//        that finds somebody waiting.
// Law    `armed` says by when the timer will have looked. A later deadline leaves it alone:
//        the timer comes too early, sees that, and adds itself again. The two look at each other:
//
//     set_deadline (under guard_)           fire (takes no lock: we wait for it under guard_)
//     deadline = t                          armed = what it goes for next
//     t < armed? stop, armed = t, add       deadline another one now? again
//
// Note   a timer of a runtime that has ended is in no timer_set, whatever `armed` says; the next wait
//        starts it. (The end cannot tell it so: nothing keeps the record alive for that.)

#include "net/pollable.h"
#include "os/os.h"
#include "sched/work/netpoll.h"
#include "sched/life/spawn.h"

namespace vole {
inline namespace v0 {
namespace detail {

pollable::outcome pollable::state(way w) const noexcept {
  if ((word_.load(seq_cst) & kClosing) != 0) return outcome::closed;
  const std::int64_t when = deadline_[static_cast<unsigned>(w)].load(seq_cst);
  return when != kNever && when <= os::now_ns() ? outcome::late : outcome::go_on;
}

std::int64_t pollable::look_at(way w) const noexcept {
  const std::int64_t deadline = deadline_[static_cast<unsigned>(w)].load(seq_cst);
  const std::int64_t pause = pause_[static_cast<unsigned>(w)].load(seq_cst);
  return deadline < pause ? deadline : pause;
}

// Inside. True: commit. False: do not wait.
bool pollable::begin_wait(M* m, way w, stop* by) noexcept {
  if (by != nullptr && !arm_for_event(*by, w)) return false;
  if (!rt::poll::start_wait(*descriptor_, w)) return false;
  const std::int64_t when = look_at(w);
  if ((word_.load(seq_cst) & kClosing) != 0 || (by != nullptr && by->said.load(seq_cst)) ||
      (when != kNever && when <= os::now_ns())) {
    rt::poll::undo_wait(*descriptor_, w);
    return false;
  }
  if (when != kNever) arm(m, w);
  if (m == nullptr) rt::network_in_use();  // somebody is to look
  return true;
}

void pollable::wait_for_event(way w, stop* by) noexcept {
  rt::place mine;
  stay s{this, w, stay::having::lock, &mine.whose()};
  s.ends = by;
  set_out(s);
  M* const m = rt::enter_either_started();
  if (!begin_wait(m, w, by)) {
    disarm(by);
    rt::leave_either(m);
    return come_back(s);
  }
  mine.self(m, this, &abandon)->slot = &s;
  const rt::commit_fn commit = [](rt::G*, void* arg) noexcept {
    const stay& waiting = *static_cast<stay*>(arg);
    return rt::poll::commit_wait(*waiting.file->descriptor_, waiting.w, waiting.who);
  };
  mine.sleep(m, rt::by_commit{commit, &s}, rt::wait_reason::network);
  if (by != nullptr) rt::inside([by](M*) { disarm(by); });
  come_back(s);
  rt::poll::end_wait(*descriptor_, w);
}

pollable::outcome pollable::wait(way w, rt::interrupter* by) noexcept {
  if (descriptor_ == nullptr) return state(w);
  if (by == nullptr) {
    wait_for_event(w, nullptr);
    return state(w);
  }
  stop ends(by);
  wait_for_event(w, &ends);
  const outcome o = state(w);
  return o == outcome::go_on && ends.said.load(relaxed) ? outcome::canceled : o;
}

pollable::outcome pollable::wait_until(way w, std::int64_t when, rt::interrupter* by) noexcept {
  atomic<std::int64_t>& pause = pause_[static_cast<unsigned>(w)];
  pause.store(when, seq_cst);
  const outcome o = wait(w, by);
  pause.store(kNever, seq_cst);
  return o;
}

void pollable::set_deadline(way w, std::int64_t when) noexcept {
  const using_file here(this);
  if (!here) return;
  deadline_[static_cast<unsigned>(w)].store(when, seq_cst);
  if (descriptor_ == nullptr) return;
  if (word_of(*descriptor_, w).load(seq_cst) <= rt::poll::descriptor::kReady) return;
  within(w, stay::having::nothing, [&](M* m, bool runs, stay&) noexcept {
    if (when != kNever && when <= os::now_ns()) {
      if (waiter* const x = rt::poll::unblock(*descriptor_, w, false)) rt::wake(m, x, 0);
    } else if (runs) {
      arm(m, w);
    }
  });
}

// Inside a runtime that runs.
void pollable::arm(M* m, way w) noexcept {
  clock& c = clock_[static_cast<unsigned>(w)];
  holding hold(guard_);
  const std::int64_t when = look_at(w);
  const std::uint32_t now = rt::timer_generation();
  if (when >= c.armed.load(seq_cst) && c.generation == now) return;
  rt::stop_timer(&c);
  c.generation = now;
  c.armed.store(when, seq_cst);
  rt::add_timer(m, &c, when);
}

void pollable::fire(rt::timer* t, M* m) noexcept {
  auto& c = *static_cast<clock*>(t);
  pollable& file = *c.file;
  const std::int64_t now = os::now_ns();
  for (;;) {
    const std::int64_t when = file.look_at(c.w);
    const bool due = when <= now;
    c.armed.store(due ? kNever : when, seq_cst);
    if (due) {
      if (waiter* const x = rt::poll::unblock(*file.descriptor_, c.w, false)) rt::wake(m, x, 0);
      return;
    }
    if (file.look_at(c.w) != when) continue;
    if (when != kNever) rt::add_timer_again(m, t, when);
    return;
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
