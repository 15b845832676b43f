// Coming home: a goroutine that must go on, on the very thread that it is on (a hooked call: compilers
// keep errno's address in a register across it).
//
// A goroutine in an `at_home` stays with its M, its home, whatever it waits for. It is in the same
// queues as others, and may be picked from them by any M: one that is not its home passes it on. What
// wakes it most often, the poller, delivers it straight to the home's inbox (inbox.h).
//
// This is not lock_os_thread [25]: the home runs others meanwhile, and any number of goroutines have the
// same home. So a home may be kept by one of them from running the others. If that one sleeps in the
// kernel, or runs on for a slice, sysmon takes the P, and those that wait here go on elsewhere
// (migrate). It is counted, and docs/design/0020-coming-home.md says what it breaks.
//
// Who    at_home: upstairs, on a goroutine, user context. deliver: any thread inside the runtime, no
//        lock held. take, pass_on: g0 of an M that has a P. shut: who takes an M's P, its retake lock
//        held or not, no other lock.
// Law    G::homed and G::locked_m are written by the goroutine itself while it runs, and by who
//        migrates it, while it is runnable and in no queue.
// Law    M::home.goroutines counts those whose home it is: such a thread does not end of its own accord.
// Proof  tests/model/inbox_model.cc; tests/stress/foreign_stress_test.cc
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"

namespace vole::rt::home {

inline bool has_mail(const M& m) noexcept { return m.home.mail.load(relaxed) != 0; }
inline bool has_mail_now(const M& m) noexcept { return m.home.mail.load(seq_cst) != 0; }  // H4
inline bool is_home(const M& m, const G& g) noexcept { return g.homed && g.locked_m == &m; }

void deliver(G* g) noexcept;  // homed and runnable
// Picked by m, homed elsewhere. True: its home is shut, and m may run it. False: it is on its way; m
// may have given its P to it.
bool pass_on(M& m, G* g) noexcept;

G* take(M& m) noexcept;  // the first of the mail; null: none

// m loses its P in user code. What is in the inbox goes elsewhere: in two steps, for who holds m's retake
// lock.
struct chain {
  runnable* first = nullptr;
  std::size_t n = 0;
};
chain shut_locked(M& m) noexcept;
void spread(const chain& all) noexcept;
inline void shut(M& m) noexcept { spread(shut_locked(m)); }
void open(M& m) noexcept;
inline void open_if_shut(M& m) noexcept {
  if (m.home.shut.load(relaxed) && m.locked_g == nullptr) [[unlikely]]
    open(m);
}
// Under L; m is on the idle list. See inbox.h.
P* last_look_locked(M& m) noexcept;

// Until its end the goroutine comes back to the thread that it is on. On a plain thread, and for one
// that is bound to its thread anyhow, nothing.
class at_home {
 public:
  at_home() noexcept;
  ~at_home();
  at_home(const at_home&) = delete;
  at_home& operator=(const at_home&) = delete;

 private:
  G* const g_;  // null: nothing to do
};

}  // namespace vole::rt::home
