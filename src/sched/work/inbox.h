// The inbox: how a goroutine that must come back to one thread, its home, gets there
// (docs/design/0020-coming-home.md).
//
// A thread that makes such a goroutine runnable puts it into its home's inbox, from which only the home
// takes. A home about to sleep and a goroutine being delivered may miss each other. Each side
// therefore writes first and reads afterwards, in one total order:
//
//     the deliverer                         the home, without a P
//     H1 put it in, mail = n   (seq_cst)    H3 idle (or polling) = true   (seq_cst)
//     H2 read idle, polling                 H4 read mail
//
// One of the two sees the other's write. Both may; then it is settled under L, where the home leaves
// the idle list once, by the deliverer or by itself.
//
//     idle, and a P is idle       the home is woken with that P
//     idle, and no P is           its mail goes to the global queue. An M that finds it there gives
//                                 the home its P, and sleeps (hand-over)
//     polling                     the poller is interrupted
//     neither                     it is awake, and will look: between two goroutines (kMail of
//                                 gmp/hot_words.h), and before it sleeps (H4)
//     shut                        it runs user code without a P, or sleeps there, or belongs to one
//                                 goroutine: goroutines that come go to the global queue, and each
//                                 counts as a migration
//
// Law    an inbox is shut from the moment at which its M loses its P in user code until it has one
//        again or comes to sleep as an idle M. The thread that shuts it empties it, in the same section.
// Law    mail != 0 while and only while the inbox is not empty, and then kMail is set.
// Law    stable states have no mail, except of a home that has a P. There sysmon sees to it: mail
//        counts as work that only this P's thread can do (slices.cc).
// Note   written against an Env, so that tests/model runs this very text.
//        Rejected: lock_os_thread's hand-over for each return (a wake-up and a sleep for each);
//        handing it over through M::picked, which find_g0 does not read again after a sleep.
// Proof  tests/model/inbox_model.cc
#pragma once

#include "base/atomic.h"

namespace vole::rt::inbox {

using namespace base;

// g, which is runnable, into m's inbox. False: it is shut, and g is the caller's.
template <class Env, class M, class G>
bool put(Env& env, M& m, G* g) noexcept {
  env.lock_inbox(m);
  const bool open = !m.home.shut.load(relaxed);
  if (open) {
    env.append_locked(m, g);
    env.set_mail_locked(m, m.home.mail.load(relaxed) + 1);  // H1
  }
  env.unlock_inbox(m);
  return open;
}

// After put(), and not by m itself. `spare`: the caller has a P that it would give up; it is called
// for at most once, with L free.
template <class Env, class M, class Spare>
void attend_to(Env& env, M& m, Spare spare) noexcept {
  if (m.idle.load(seq_cst)) {  // H2
    env.lock();
    // Looked at once: mail that comes after this is its deliverer's to attend to.
    const bool wants = env.may_wake_locked(m);
    auto* p = wants ? env.pop_idle_p_locked(m) : nullptr;
    const bool gives = wants && p == nullptr && spare.offers();
    if (p != nullptr || gives) {
      env.remove_idle_m_locked(m);
    } else if (wants) {
      env.mail_to_global_locked(m);
    }
    env.unlock();
    if (p == nullptr && gives) p = spare.give();
    if (p != nullptr) env.wake(m, p);
  } else if (m.polling.load(seq_cst)) {
    env.interrupt_poller();
  }
}

// m has put itself on the idle list and holds L. Not null: the P that it has instead of its sleep; it
// is off the list.
template <class Env, class M>
auto last_look_locked(Env& env, M& m) noexcept -> decltype(env.pop_idle_p_locked(m)) {
  if (m.home.mail.load(seq_cst) == 0) return nullptr;  // H4
  auto* p = env.pop_idle_p_locked(m);
  if (p != nullptr) {
    env.remove_idle_m_locked(m);
  } else {
    env.mail_to_global_locked(m);
  }
  return p;
}

// The home takes the first. Null: there is none.
template <class Env, class M>
auto take(Env& env, M& m) noexcept -> decltype(env.pop_locked(m)) {
  if (m.home.mail.load(relaxed) == 0) return nullptr;
  env.lock_inbox(m);
  auto* g = env.pop_locked(m);
  if (g != nullptr) env.set_mail_locked(m, m.home.mail.load(relaxed) - 1);
  env.unlock_inbox(m);
  return g;
}

// Returns what was in it, a chain.
template <class Env, class M>
auto shut(Env& env, M& m) noexcept -> decltype(env.take_all_locked(m)) {
  env.lock_inbox(m);
  m.home.shut.store(true, relaxed);
  auto all = env.take_all_locked(m);
  env.set_mail_locked(m, 0);
  env.unlock_inbox(m);
  return all;
}

template <class Env, class M>
void open(Env& env, M& m) noexcept {
  env.lock_inbox(m);
  m.home.shut.store(false, relaxed);
  env.unlock_inbox(m);
}

}  // namespace vole::rt::inbox
