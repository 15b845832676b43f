#include "sched/retake.h"

#include "os/os.h"
#include "sched/state.h"
#include "sched/thread.h"

namespace vole::rt::retake {

M* hide(P* p) noexcept {
  M* const m = p->m.load(seq_cst);
  if (m == nullptr) return nullptr;
  m->retake_lock.acquire_next_of_kind();  // order: Ps by number
  if (m->p != p) {
    m->retake_lock.release();
    return nullptr;
  }
  m->hot.attention.store(1, seq_cst);
  m->hot.hide();
  return m;
}

bool look(M* m, P* p) noexcept {
  if (!m->hot.look()) {
    m->hot.unhide(p);
    return false;
  }
  m->p = nullptr;
  m->away = p;
  m->hot.attention.store(0, seq_cst);
  p->m.store(nullptr, seq_cst);
  set_status(*m->curg, g_status::running, g_status::evicted);
  return true;
}

bool evict(P* p) noexcept {
  M* const m = hide(p);
  if (m == nullptr) return false;
  os::membarrier();
  const bool ours = look(m, p);
  if (ours) m->away = nullptr;  // it does not come back
  m->retake_lock.release();
  if (!ours) return false;
  p->evictions.add_owner();
  hand_off(p);
  return true;
}

}  // namespace vole::rt::retake
