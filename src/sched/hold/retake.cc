#include "sched/hold/retake.h"

#include "os/os.h"
#include "sched/life/call.h"
#include "sched/work/home.h"
#include "sched/state.h"
#include "sched/hold/thread.h"
#include "trace/emit.h"

namespace vole::rt {

void become_evicted(G& g, g_status from) noexcept {
  set_status(g, from, g_status::evicted);
  sched.evicted.fetch_add(1, seq_cst);
}

void end_eviction(G& g, g_status to) noexcept {
  set_status(g, g_status::evicted, to);
  sched.evicted.fetch_sub(1, seq_cst);
}

}  // namespace vole::rt

namespace vole::rt::retake {

M* lock_owner(P* p) noexcept VOLE_UNCHECKED {  // held when it returns an M
  M* const m = p->m.load(seq_cst);
  if (m == nullptr) return nullptr;
  m->retake_lock.acquire_next_of_kind();  // order: Ps by number
  if (m->p == p) return m;
  m->retake_lock.release();
  return nullptr;
}

M* hide(P* p) noexcept {
  M* const m = lock_owner(p);
  if (m == nullptr) return nullptr;
  m->hot.attention.store(1, seq_cst);
  m->hot.hide();
  return m;
}

bool look(M* m, P* p) noexcept {
  if (!m->hot.look()) {
    m->hot.unhide(p);
    return false;
  }
  forget_stale_mark(*m, *p);
  m->p = nullptr;
  m->away = p;
  m->hot.attention.store(0, seq_cst);
  p->m.store(nullptr, seq_cst);
  become_evicted(*m->curg);
  return true;
}

namespace {

// Threads that hold a P, or are to get one, come first. Measured, 64 endless loops on 2 cores: until
// all had begun 4.4 s without this and 2.7 s with it on two Ps, 8.1 s and 2.3 s on one.
constexpr std::int64_t kSliceWithoutP = 20 * 1000 * 1000;  // ns

}  // namespace

// If the look succeeds `attention` is neither set nor cleared: another thread whose look has failed
// may be counting on it, and the M may be between its store of in_rt and its test.
bool expose(P* p) noexcept VOLE_UNCHECKED {  // lock_owner's lock
  M* const m = lock_owner(p);
  if (m == nullptr) return false;
  m->hot.hide();
  os::membarrier();
  bool moved = false;
  if (m->hot.look()) {
    runnable* const r = p->ready_next.load(relaxed);
    moved = r != nullptr && p->ring.push_owner(r);
    if (moved) p->ready_next.store(nullptr, relaxed);
  } else {
    m->hot.attention.store(1, seq_cst);
  }
  m->hot.unhide(p);
  m->retake_lock.release();
  fence_seq_cst();  // S2
  return moved;
}

bool evict(P* p, bool runs_on) noexcept VOLE_UNCHECKED {  // hide's lock
  M* const m = hide(p);
  if (m == nullptr) return false;
  os::membarrier();
  const bool ours = look(m, p);
  home::chain all;
  if (ours) {
    m->away = nullptr;  // it does not come back
    all = home::shut_locked(*m);
    trace::p_is_taken(*m, *p);
    m->patient = runs_on;
    if (runs_on) os::prefer_slice(m->tid.load(relaxed), kSliceWithoutP);
  }
  m->retake_lock.release();
  if (!ours) return false;
  home::spread(all);
  p->evictions.add_owner();
  hand_off(p);
  return true;
}

}  // namespace vole::rt::retake
