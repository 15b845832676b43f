#include "sched/hold/safe_point.h"

#include "base/fatal.h"
#include "os/os.h"
#include "sched/life/enter.h"
#include "sched/run/lifecycle.h"
#include "sched/hold/retake.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/life/value_move.h"
#include "sched/hold/world.h"

namespace vole::rt::safe_point {
namespace {

constexpr std::int64_t kAskAgain = 1000 * 1000;  // ns

struct asker_state {
  function fn;
  void* arg;
  atomic<std::uint32_t> left;  // futex word: Ps for which it has not been run
  M* hidden[kMaxProcs];
};
constinit asker_state own{};

struct shipped_env {
  void lock() const noexcept VOLE_ACQUIRE(sched.lock) { sched.lock.acquire(); }
  void unlock() const noexcept VOLE_RELEASE(sched.lock) { sched.lock.release(); }
  P& p_at(std::uint32_t i) const noexcept { return *sched.p_at(i); }
  bool is_idle_locked(std::uint32_t i) const noexcept { return sched.idle_mask.test(i); }
  M* lock_owner(P& p) const noexcept { return retake::lock_owner(&p); }
  void unlock_owner(M& m) const noexcept VOLE_UNCHECKED { m.retake_lock.release(); }
  M*& hidden(std::uint32_t i) const noexcept { return own.hidden[i]; }
  void membarrier() const noexcept { os::membarrier(); }
  void call(P& p) const noexcept { own.fn(p, own.arg); }
  void count_one() const noexcept {
    if (own.left.fetch_sub(1, std::memory_order_acq_rel) == 1) futex_wake(&own.left, 1);
  }
};

// No world stops and no P comes or goes.
std::uint32_t ask_everybody(function fn, void* arg) noexcept {
  shipped_env env;
  const std::uint32_t n = sched.procs.load(relaxed);
  own.fn = fn;
  own.arg = arg;
  own.left.store(n, seq_cst);
  ask_all(env, n);
  for (std::uint32_t left; (left = own.left.load(acquire)) != 0;) {  // pairs: count_one
    visit_all(env, n);
    left = own.left.load(acquire);
    if (left != 0) futex_wait_for(&own.left, left, kAskAgain);
    if (left != 0) strict::release_all_captured();  // somebody inside may wait for a captured thread
  }
  return n;
}

}  // namespace

std::uint32_t on_every_p_inside(function fn, void* arg) noexcept {
  if (const M* const m = this_m(); m != nullptr && m->hot.in_rt.load(relaxed) != 0)
    broken("safe_point: a thread that is inside the runtime asked for a safe point");
  world::keep_going();
  const std::uint32_t n = ask_everybody(fn, arg);
  world::may_stop();
  return n;
}

bool on_every_p(function fn, void* arg) noexcept {
  refuse_in_value_move();
  lifecycle::refuse_forked_child();
  const bool guest = this_m() == nullptr;
  const bool running = !guest || guest_enter();
  if (running) on_every_p_inside(fn, arg);
  if (guest) guest_leave();
  return running;
}

void run_owner(P& p) noexcept {
  shipped_env env;
  run(env, p);
}

bool attend_owner(M& m) noexcept {
  if (!take_back(m.hot)) return false;
  run_owner(*m.p);
  return true;
}

void taken_owner(M& m) noexcept {
  if (m.p->safe_point.load(seq_cst) != 0) ask(m.hot);
}

}  // namespace vole::rt::safe_point
