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
// `spinning` counts workers that look for work plus wake-ups in flight. A submitter
// that finds it above zero leaves the rest to them: a worker that finds work
// stops spinning and submits on (S3-S5), so wake-ups come one after the other,
// as fast as there is work, and not in herds.
//
// `need_spinning` is the promise for when all Ps were busy: the next worker that
// would drop its P must search once more first. It is set only under L and tested
// under L before a P is dropped, so while it stands no P is idle, and submitters
// need not take L: that worker will see what they queued.
//
// Who    any thread, in the runtime; takes L (the scheduler lock) itself, but for _locked.
// Law    I1-I8 of docs/design/0003-wake-ups.md. The words are written by the functions of
//        sched/work/parking_words.h, and here, and nowhere else (tools/rules.txt).
// Note   written against an Env, so that tests/model runs this very text. The
//        shipped Env (sched/work/env.h) is a struct of one-line inline functions.
//        Rejected: dropping the spinning count after L has been released (a submit
//        in the gap trusts a wake-up that has already given up); testing the promise
//        only when not spinning (it would outlive its P, and submitters would trust
//        it for ever); waking on every submit; an asymmetric fence (12 us on every
//        idle transition).
// Proof  tests/model/parking_model.cc, tests/model/stop_model.cc
#pragma once

#include "sched/work/parking_words.h"

namespace vole::rt::parking {

// ── a P changes hands ──

// There is no thread for p: it is idle, and its work everybody's. Breaks I1 until somebody asks again.
// spinning: the count that travels with p.
template <class Env, class P>
void set_aside_p_locked(Env& env, P* p, bool spinning) noexcept {
  env.drain_queue_locked(*p);
  end_promise_locked(env.parking_state());
  if (spinning) stop_spinning(env.parking_state());
  env.is_set_aside_locked();
  if (!stop_p_locked(env, p)) put_idle_p_locked(env, p);
}

// The thread that was to be made for m cannot be had: the P that travels with it is set aside.
template <class Env, class M>
void call_off_locked(Env& env, M& m) noexcept {
  auto* const p = m.next_p;
  const bool spinning = m.spinning;
  m.next_p = nullptr;
  m.spinning = false;
  set_aside_p_locked(env, p, spinning);
}

// An idle M for p, or a new one (I7). If it spins, our count goes with it.
template <class Env, class P>
void start_m(Env& env, P* p, bool spinning) noexcept {
  env.lock();
  auto* m = pop_idle_m_locked(env);
  const bool sleeps = m != nullptr;
  if (!sleeps) m = env.new_m_locked();
  if (m == nullptr) {
    set_aside_p_locked(env, p, spinning);
    env.unlock();
    return env.tell_limit();
  }
  m->spinning = spinning;
  m->next_p = p;
  env.starts_locked(*m);
  env.unlock();
  sleeps ? env.wake(*m) : env.deliver(*m);
}

// Gives p to an M that needs one, or puts it on the idle list: I8.
template <class Env, class P>
void hand_off(Env& env, P* p) noexcept {
  state& s = env.parking_state();
  env.is_handed_off(*p);
  if (env.has_work(*p) || env.has_global_work()) return start_m(env, p, false);
  // Nobody looks for work and nobody could: keep one looking.
  int none = 0;
  if (s.spinning.load(seq_cst) == 0 && env.idle_p_count().load(seq_cst) == 0 &&
      s.spinning.compare_exchange_strong(none, 1, seq_cst)) {
    env.lock();
    end_promise_locked(s);  // that one searches
    env.unlock();
    return start_m(env, p, true);
  }
  env.lock();
  if (stop_p_locked(env, p)) return env.unlock();
  // A promise stands: a submitter relies on the next worker to look.
  const bool promised = s.need_spinning.load(seq_cst) != 0;
  if (promised || env.has_global_work_locked()) {
    if (promised) {
      end_promise_locked(s);
      s.spinning.fetch_add(1, seq_cst);
    }
    env.unlock();
    return start_m(env, p, promised);
  }
  if (env.must_keep_polling_locked()) {
    env.unlock();
    return start_m(env, p, false);
  }
  put_idle_p_locked(env, p);
  env.unlock();
  env.tell_poller();
}

// The M's P goes to the stopper or, if the world has started again, is handed off.
template <class Env, class M>
void stop_here(Env& env, M& m) noexcept {
  if (m.spinning) stop_spinning(env, m);
  auto* const p = env.release_p(m);
  if (!stop_p(env, p)) hand_off(env, p);
}

// The M gives up its P for good, with all that is queued there.
template <class Env, class M>
void retire_locked(Env& env, M& m) noexcept {
  env.drain_queue_locked(*m.p);
  end_promise_locked(env.parking_state());  // sysmon will wake a thread
  put_idle_p_locked(env, env.release_p(m));
}

// ── submitting and searching ──

template <class Env>
[[gnu::noinline]] void wake_somebody(Env& env) noexcept {
  state& s = env.parking_state();
  int none = 0;
  if (!s.spinning.compare_exchange_strong(none, 1, seq_cst)) return;
  env.lock();
  auto* p = pop_idle_p_locked(env);  // S4
  if (p == nullptr) {
    promise_locked(s);
    stop_spinning(s);  // inside L: see "Rejected"
  }
  env.unlock();
  if (p != nullptr) start_m(env, p, true);  // S5; takes our count over
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

// A spinning worker has found work: it stops spinning and submits for a successor.
template <class Env, class M>
void found_work(Env& env, M& m) noexcept {
  stop_spinning(env, m);
  submit(env);
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
  if (env.stopping().load(relaxed) || env.has_global_work_locked()) {  // D1
    env.unlock();
    return verdict::retry;
  }
  if (s.need_spinning.load(seq_cst) != 0) {  // spinning or not: need implies no idle P
    end_promise_locked(s);
    if (!m.spinning) become_spinning(env, m);
    env.unlock();
    return verdict::retry;
  }
  put_idle_p_locked(env, env.release_p(m));
  env.unlock();
  if (!m.spinning) return verdict::sleep;

  stop_spinning(env, m);                       // D2, D3
  if (!env.any_work()) return verdict::sleep;  // D4
  env.lock();
  auto* p = pop_idle_p_locked(env);
  if (p == nullptr) promise_locked(s);
  env.unlock();
  if (p == nullptr) return verdict::sleep;
  become_spinning(env, m);
  env.acquire_p(m, p);
  return verdict::retry;
}

}  // namespace vole::rt::parking
