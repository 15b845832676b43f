// The parking protocol in short, with one fault to choose: mutants for its model.
//
// Who    parking_model.cc.
// Law    with fault::none it does what sched/work/parking.h does.
#pragma once

#include "sched/work/parking.h"

namespace {

enum class fault {
  none,
  no_last_look,         // D4 skipped
  drops_after_unlock,   // submit: spinning - 1 after L has been released
  no_promise,           // submit: need_spinning not set
  no_promise_at_d4,     // the same, after the last look
  promise_untested,     // D1 does not look at need_spinning
  promise_half_tested,  // ... unless it is not spinning: the promise outlives its P
  no_successor,         // found_work does not submit
};

struct shipped_text {
  static void submit(auto& env) { vole::rt::parking::submit(env); }
  static void found_work(auto& env, auto& m) { vole::rt::parking::found_work(env, m); }
  static void become_spinning(auto& env, auto& m) { vole::rt::parking::become_spinning(env, m); }
  static auto go_idle(auto& env, auto& m) { return vole::rt::parking::go_idle(env, m); }
};

template <fault F>
struct faulty_text : shipped_text {
  using verdict = vole::rt::parking::verdict;
  static constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

  static void submit(auto& env) {
    auto& s = env.parking_state();
    if (s.spinning.load(seq_cst) != 0) return;
    if (s.need_spinning.load(seq_cst) != 0) return;
    int none = 0;
    if (!s.spinning.compare_exchange_strong(none, 1, seq_cst)) return;
    env.lock();
    auto* p = vole::rt::parking::pop_idle_p_locked(env);
    if (p == nullptr) {
      if (F != fault::no_promise) s.need_spinning.store(1, seq_cst);
      if (F != fault::drops_after_unlock) s.spinning.fetch_sub(1, seq_cst);
    }
    env.unlock();
    if (p == nullptr && F == fault::drops_after_unlock) s.spinning.fetch_sub(1, seq_cst);
    if (p != nullptr) vole::rt::parking::start_m(env, p, true);
  }

  static void found_work(auto& env, auto& m) {
    m.spinning = false;
    env.parking_state().spinning.fetch_sub(1, seq_cst);
    if (F != fault::no_successor) submit(env);
  }

  static verdict go_idle(auto& env, auto& m) {
    auto& s = env.parking_state();
    env.lock();
    if (env.stopping().load(seq_cst) || env.has_global_work_locked()) {
      env.unlock();
      return verdict::retry;
    }
    const bool tests = F == fault::promise_half_tested ? !m.spinning : F != fault::promise_untested;
    if (tests && s.need_spinning.load(seq_cst) != 0) {
      s.need_spinning.store(0, seq_cst);
      if (!m.spinning) shipped_text::become_spinning(env, m);
      env.unlock();
      return verdict::retry;
    }
    vole::rt::parking::put_idle_p_locked(env, env.release_p(m));
    env.unlock();
    if (!m.spinning) return verdict::sleep;
    m.spinning = false;
    s.spinning.fetch_sub(1, seq_cst);
    if (F == fault::no_last_look || !env.any_work()) return verdict::sleep;
    env.lock();
    auto* p = vole::rt::parking::pop_idle_p_locked(env);
    if (p == nullptr && F != fault::no_promise_at_d4) s.need_spinning.store(1, seq_cst);
    env.unlock();
    if (p == nullptr) return verdict::sleep;
    shipped_text::become_spinning(env, m);
    env.acquire_p(m, p);
    return verdict::retry;
  }
};

}  // namespace
