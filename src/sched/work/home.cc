#include "sched/work/home.h"

#include "poll/poll.h"
#include "sched/hold/thread.h"
#include "sched/state.h"
#include "sched/wake_policy/policy.h"
#include "sched/work/env.h"
#include "sched/work/inbox.h"
#include "sched/work/wake.h"

namespace vole::rt::home {
namespace {

struct home_env {
  void lock() const noexcept VOLE_ACQUIRE(sched.lock) { sched.lock.acquire(); }
  void unlock() const noexcept VOLE_RELEASE(sched.lock) { sched.lock.release(); }
  void lock_inbox(M& m) const noexcept VOLE_ACQUIRE(m.home.lock) { m.home.lock.acquire(); }
  void unlock_inbox(M& m) const noexcept VOLE_RELEASE(m.home.lock) { m.home.lock.release(); }

  void append_locked(M& m, G* g) const noexcept VOLE_UNCHECKED {
    g->next = nullptr;
    (m.home.last != nullptr ? m.home.last->next : m.home.first) = g;
    m.home.last = g;
  }
  G* pop_locked(M& m) const noexcept VOLE_UNCHECKED {
    runnable* const r = m.home.first;
    if (r == nullptr) return nullptr;
    m.home.first = r->next;
    if (m.home.first == nullptr) m.home.last = nullptr;
    return as_g(r);
  }
  chain take_all_locked(M& m) const noexcept VOLE_UNCHECKED {
    const chain all{m.home.first, m.home.mail.load(relaxed)};
    m.home.first = m.home.last = nullptr;
    return all;
  }
  void set_mail_locked(M& m, std::uint32_t n) const noexcept {
    const std::uint32_t had = m.home.mail.load(relaxed);
    m.home.mail.store(n, seq_cst);
    if (had == 0 && n != 0) m.hot.unplain.fetch_or(hot_words<P>::kMail, seq_cst);
    if (had != 0 && n == 0) m.hot.unplain.fetch_and(~hot_words<P>::kMail, seq_cst);
  }

  P* pop_idle_p_locked(M& m) const noexcept VOLE_UNCHECKED { return rt::pop_idle_p_locked(m.last_p); }
  bool may_wake_locked(const M& m) const noexcept {
    return m.idle.load(relaxed) && m.home.mail.load(seq_cst) != 0;
  }
  void remove_idle_m_locked(M& m) const noexcept VOLE_UNCHECKED {
    shipped_env env;
    parking::remove_idle_m_locked(env, m);
    sched.count_start_locked();
  }
  void mail_to_global_locked(M& m) const noexcept VOLE_UNCHECKED {
    lock_inbox(m);
    const chain all = take_all_locked(m);
    set_mail_locked(m, 0);
    unlock_inbox(m);
    if (all.n != 0) sched.global.append_locked(all.first, all.n);  // I6: no P is idle
  }
  void wake(M& m, P* p) const noexcept {
    wake_policy::is_woken_for_one(m);
    m.next_p = p;
    m.park.wake();
  }
  void interrupt_poller() const noexcept { poll::interrupt(); }
};

struct no_spare {
  static bool offers() noexcept { return false; }
  static P* give() noexcept { return nullptr; }
};
struct own_p {
  M& m;
  bool offers() const noexcept { return true; }
  P* give() const noexcept { return release_p(m); }
};

// It goes on wherever it is picked.
void migrate(G& g) noexcept {
  g.locked_m->home.goroutines.fetch_sub(1, relaxed);
  g.homed = 0;
  lock_to(g, nullptr);
  sched.hooked_migrations.fetch_add(1, relaxed);
}

}  // namespace

void deliver(G* g) noexcept {
  M& m = *g->locked_m;
  home_env env;
  if (inbox::put(env, m, g)) return inbox::attend_to(env, m, no_spare());
  migrate(*g);
  push_global(g);
}

bool pass_on(M& m, G* g) noexcept {
  M& to = *g->locked_m;
  home_env env;
  if (!inbox::put(env, to, g)) {
    migrate(*g);
    return true;
  }
  inbox::attend_to(env, to, own_p{m});
  return false;
}

G* take(M& m) noexcept {
  home_env env;
  return inbox::take(env, m);
}

chain shut_locked(M& m) noexcept {
  home_env env;
  return inbox::shut(env, m);
}

void spread(const chain& all) noexcept {
  if (all.n == 0) return;
  for (runnable* r = all.first; r != nullptr; r = r->next) migrate(*as_g(r));
  sched.lock.acquire();
  sched.global.append_locked(all.first, all.n);
  sched.lock.release();
  submit();
}

void open(M& m) noexcept {
  home_env env;
  inbox::open(env, m);
}

P* last_look_locked(M& m) noexcept {
  home_env env;
  return inbox::last_look_locked(env, m);
}

at_home::at_home() noexcept
    : g_(this_m() != nullptr && !this_m()->curg->locked ? this_m()->curg : nullptr) {
  if (g_ == nullptr) return;
  M* const m = this_m();
  m->home.goroutines.fetch_add(1, relaxed);
  g_->homed = 1;
  lock_to(*g_, m);
}

at_home::~at_home() {
  if (g_ == nullptr || !g_->homed) return;  // migrated
  g_->locked_m->home.goroutines.fetch_sub(1, relaxed);
  g_->homed = 0;
  lock_to(*g_, nullptr);
}

}  // namespace vole::rt::home
