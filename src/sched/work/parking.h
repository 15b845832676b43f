// The parking protocol: how work and sleeping workers find each other
// (docs/design/0003-wake-ups.md).
//
// A worker about to sleep and a goroutine being queued may miss each other. Each
// side therefore writes first and reads afterwards, in one total order:
//
//     submitter                        worker
//     S1 queue the G    (seq_cst)      D2 spinning -= 1        (seq_cst)
//     S3 read spinning  (seq_cst)      D4 read every queue again
//
// One of the two sees the other's write. Both may: we pay with a needless wake-up,
// never with a forgotten goroutine.
//
// `spinning` counts workers that look for work plus wake-ups in flight. Whoever
// submits while it is not zero leaves the rest to them: a worker that finds work
// stops spinning and submits on (S3-S5), so wake-ups come one after the other,
// as fast as there is work, and not in herds.
//
// `need_spinning` is the promise for when all Ps were busy: the next worker that
// would drop its P must search once more first. It is set only under L and tested
// under L before a P is dropped, so while it stands no P is idle, and submitters
// need not take L: that worker will see what they queued.
//
// Who    any thread, in the runtime; takes L (the scheduler lock) itself.
// Law    I1-I7 of docs/design/0003-wake-ups.md.
// Note   written against an Env, so that tests/model runs this very text. The
//        shipped Env (sched/work/env.h) is a struct of one-line inline functions.
//        Rejected: dropping the spinning count after L has been released (a submit
//        in the gap trusts a wake-up that has already given up); testing the promise
//        only when not spinning (it would outlive its P, and submitters would trust
//        it for ever); waking on every submit; an asymmetric fence (12 us on every
//        idle transition).
// Proof  tests/model/parking_model.cc
#pragma once

#include "base/atomic.h"
#include "base/fatal.h"

namespace vole::rt::parking {

using namespace base;

// What the protocol counts. One per runtime.
struct state {
  alignas(64) atomic<int> spinning{0};
  atomic<int> need_spinning{0};
};

// One that was counted searches no more.
inline void stop_spinning(state& s) noexcept {
  [[maybe_unused]] const int were = s.spinning.fetch_sub(1, seq_cst);
#ifdef VOLE_CHECKED
  if (were <= 0) fatal("parking: fewer than no threads spin");
#endif
}

template <class Env>
[[gnu::noinline]] void wake_somebody(Env& env) noexcept {
  state& s = env.parking_state();
  int none = 0;
  if (!s.spinning.compare_exchange_strong(none, 1, seq_cst)) return;
  env.lock();
  auto* p = env.pop_idle_p_locked();  // S4
  if (p == nullptr) {
    s.need_spinning.store(1, seq_cst);
    stop_spinning(s);  // inside L: see "Rejected"
  }
  env.unlock();
  if (p != nullptr) env.start_spinning_m(p);  // S5; takes our count over
}

// S3-S5. The work was published before, by a seq_cst store or read-modify-write.
inline bool is_awaited(const state& s) noexcept {
  return s.spinning.load(seq_cst) != 0 ||     // S3
         s.need_spinning.load(seq_cst) != 0;  // promised already
}

template <class Env>
inline void submit(Env& env) noexcept {
  if (!is_awaited(env.parking_state())) wake_somebody(env);
}

// A spinning worker has found work: it stops spinning and sees to a successor.
template <class Env, class M>
void found_work(Env& env, M& m) noexcept {
  m.spinning = false;
  stop_spinning(env.parking_state());
  submit(env);
}

template <class Env, class M>
void become_spinning(Env& env, M& m) noexcept {
  m.spinning = true;
  env.parking_state().spinning.fetch_add(1, seq_cst);
}

enum class verdict {
  retry,  // the M has a P (perhaps another one) and must search again
  sleep,  // the M has no P and is not spinning: it may sleep
};

// D1-D4. The M holds a P and has found nothing anywhere.
template <class Env, class M>
verdict go_idle(Env& env, M& m) noexcept {
  state& s = env.parking_state();
  env.lock();
  if (env.must_not_idle_locked()) {  // D1: global work, or a stop
    env.unlock();
    return verdict::retry;
  }
  if (s.need_spinning.load(seq_cst) != 0) {  // spinning or not: need implies no idle P
    s.need_spinning.store(0, seq_cst);
    if (!m.spinning) become_spinning(env, m);
    env.unlock();
    return verdict::retry;
  }
  env.release_p_to_idle_locked(m);
  env.unlock();
  if (!m.spinning) return verdict::sleep;

  m.spinning = false;
  stop_spinning(s);                              // D2, D3
  if (!env.any_work()) return verdict::sleep;    // D4
  env.lock();
  auto* p = env.pop_idle_p_locked();
  if (p == nullptr) s.need_spinning.store(1, seq_cst);
  env.unlock();
  if (p == nullptr) return verdict::sleep;
  become_spinning(env, m);
  env.acquire_p(m, p);
  return verdict::retry;
}

}  // namespace vole::rt::parking
