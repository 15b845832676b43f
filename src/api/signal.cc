// include/vole/signal.h: the registrations for signals, and the thread that delivers them (the teller).
//
//     signal handler          the teller, a plain thread        registration
//     counts, wakes           reads the wake word               linked, then handler installed,
//                             enters as a guest, locks          all under the lock
//                             takes the counts, sends each
//                             unlocks, leaves
//                             sleeps if the wake word is unchanged
//
// Who    any thread, in user context.
// Law    a signal that comes after listen_to_signals has returned is counted, and is sent to the
//        registrations that are linked when the teller takes the count. After a signal's last
//        registration has ended, the former handler gets it.
// Law    the lock is taken in user context, perhaps on a goroutine: its holder does not enter the
//        runtime. The teller does, for the channels, and so it enters before it locks: it must not
//        wait for the end of a runtime while it holds a lock that the runtime's threads may wait for.
// Note   the teller lives while there is a registration. It is a thread of the process that may
//        send at any time, and counts as such: no deadlock is reported meanwhile.
//        Rejected: a goroutine that waits in the poller. It would end with every runtime and be
//        missing between two; it would be counted and dumped among the program's own; and a
//        plain thread that has no runtime would be told nothing.
// Note   a context is cancelled in user context: the teller lists the contexts under the lock and
//        cancels them afterwards (cancel_heard). That may run user code on the teller's thread, which
//        may end the last registration: then the teller is detached instead of joined.
// Note   a forked child has no teller. Ending a registration there leaves everything as it is;
//        making one is refused.
// Proof  tests/api/signal_test.cc, tests/crash/signal_test.cc

#include <vole/signal.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/lock.h"
#include "base/race.h"
#include "os/os.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;

class signal_listener {
 public:
  explicit signal_listener(send_chan<int> c) noexcept : to(std::move(c)) {}
  explicit signal_listener(context c) noexcept : to(nullptr), canceled(std::move(c)) {}
  const send_chan<int> to;   // nil: a context's
  const context canceled;
  int heard = 0;             // under lock: the signal that has come, a context's
  std::uint64_t wanted = 0;  // bit n - 1: signal n
  signal_listener* next = nullptr;
  signal_listener* prev = nullptr;
};

namespace {

struct signal_state {
  base::lock<lock_rank::signals> lock;
  signal_listener* first VOLE_GUARDED_BY(lock) = nullptr;
  std::uint32_t users[os::kMostSignals + 1] VOLE_GUARDED_BY(lock) = {};
  std::uintptr_t teller VOLE_GUARDED_BY(lock) = 0;  // the number of the one that works; 0: none
  std::uintptr_t last_teller VOLE_GUARDED_BY(lock) = 0;
  os::thread thread VOLE_GUARDED_BY(lock);        // the teller's
  atomic<std::uint64_t> process{0};               // whose thread it is; 0: there is none
};
constinit signal_state own;

template <class F>
void each_signal(std::uint64_t set, F f) noexcept {
  for (int n = 1; n <= os::kMostSignals; ++n)
    if ((set >> (n - 1) & 1) != 0) f(n);
}

void tell_locked(int number) noexcept VOLE_REQUIRES(own.lock) {
  for (std::uint32_t n = os::take_signals(number); n > 0; --n)
    for (signal_listener* l = own.first; l != nullptr; l = l->next) {
      if ((l->wanted >> (number - 1) & 1) == 0) continue;
      if (l->to != nullptr) {
        l->to.try_send(number);
      } else {
        l->heard = number;
      }
    }
}

// The next context that a signal has come for. 0: there is none.
int take_heard(context& canceled) noexcept {
  holding hold(own.lock);
  for (signal_listener* l = own.first; l != nullptr; l = l->next)
    if (l->heard != 0) {
      canceled = l->canceled;
      return std::exchange(l->heard, 0);
    }
  return 0;
}

void cancel_heard() {
  for (;;) {
    context canceled;
    const int number = take_heard(canceled);
    if (number == 0) return;
    cancel_by_signal(canceled, number);
  }
}

// False: this teller's time is over.
bool tell(std::uintptr_t self) noexcept {
  rt::guest_enter();
  own.lock.acquire();
  const bool on_duty = own.teller == self;
  race::acquire(&own);
  if (on_duty) each_signal(~std::uint64_t{0}, &tell_locked);
  own.lock.release();
  rt::guest_leave();
  return on_duty;
}

constinit thread_local bool is_teller = false;
[[gnu::noinline]] bool on_teller() noexcept { return is_teller; }

void teller_main(void* number) noexcept {
  is_teller = true;
  for (;;) {
    const std::uint32_t wake_word = os::signal_wake_word();
    if (!tell(reinterpret_cast<std::uintptr_t>(number))) return;
    cancel_heard();
    os::sleep_until_signal(wake_word);
  }
}

int start_teller_locked() noexcept VOLE_REQUIRES(own.lock) {
  if (own.teller != 0) return 0;
  os::thread_spec spec;
  spec.main = &teller_main;
  spec.arg = reinterpret_cast<void*>(++own.last_teller);
  spec.name = "vole-signals";
  spec.block_signals = true;
  spec.runs_for_users = true;
  const int error = os::create_thread(&own.thread, spec);
  if (error != 0) return error;
  own.teller = own.last_teller;
  own.process.store(os::process_id(), relaxed);
  return 0;
}

// The handlers of those that nobody else wants; stops the teller if nobody wants anything. True:
// then `thread` is to be joined.
bool end_locked(signal_listener& l, os::thread& thread) noexcept VOLE_REQUIRES(own.lock) {
  (l.prev != nullptr ? l.prev->next : own.first) = l.next;
  if (l.next != nullptr) l.next->prev = l.prev;
  each_signal(l.wanted, [](int n) VOLE_UNCHECKED noexcept {  // its caller holds the lock
    if (--own.users[n] == 0) os::unhear_signal(n);
  });
  if (own.first != nullptr || own.teller == 0) return false;
  own.teller = 0;
  own.process.store(0, relaxed);
  thread = own.thread;
  return true;
}

void end(signal_listener& l) noexcept {
  os::thread thread;
  own.lock.acquire();
  const bool was_last = end_locked(l, thread);
  own.lock.release();
  if (!was_last) return;
  os::ring_for_signals();
  on_teller() ? os::detach_thread(thread) : os::join_thread(thread);
}

// 0 or errno; then `refused` says which signal it was about, 0: the teller.
int begin_locked(signal_listener& l, std::uint64_t wanted, int& refused) noexcept
    VOLE_REQUIRES(own.lock) {
  race::release(&own);
  l.next = own.first;
  if (l.next != nullptr) l.next->prev = &l;
  own.first = &l;
  int error = start_teller_locked();
  each_signal(wanted, [&](int n) VOLE_UNCHECKED noexcept {  // its caller holds the lock
    if (error == 0 && own.users[n] == 0 && (error = os::hear_signal(n)) != 0) refused = n;
    if (error != 0) return;
    ++own.users[n];
    l.wanted |= std::uint64_t{1} << (n - 1);
  });
  return error;
}

[[noreturn]] void refuse(const char* who, int number, const char* why) {
  throw std::invalid_argument(std::string("vole::") + who + ": signal " + std::to_string(number) +
                              " " + why);
}

// The teller, and perhaps somebody with the lock, are threads of the parent.
bool in_forked_child() noexcept {
  const std::uint64_t process = own.process.load(relaxed);
  return process != 0 && process != os::process_id();
}

std::uint64_t checked(const char* who, std::span<const int> signals) {
  if (signals.empty())
    throw std::invalid_argument(std::string("vole::") + who + ": no signals are named");
  std::uint64_t set = 0;
  for (const int n : signals) {
    if (n < 1 || n > os::kMostSignals) refuse(who, n, "does not exist");
    for (const int never : {SIGKILL, SIGSTOP})
      if (n == never) refuse(who, n, "cannot be caught by anybody");
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS})
      if (n == fault) refuse(who, n, "is a fault of the thread that gets it, which cannot go on");
    set |= std::uint64_t{1} << (n - 1);
  }
  if (in_forked_child())
    throw std::logic_error(std::string("vole::") + who +
                           ": called in a forked child whose parent has registrations. After fork "
                           "call nothing but exec or _exit");
  return set;
}

signal_listener* listen(const char* who, std::unique_ptr<signal_listener> listener,
                        std::uint64_t wanted) {
  int refused = 0;
  own.lock.acquire();
  const int error = begin_locked(*listener, wanted, refused);
  own.lock.release();
  if (error == 0) return listener.release();
  end(*listener);
  if (refused != 0) refuse(who, refused, "is refused by the system");
  throw std::system_error(error, std::generic_category(),
                          std::string("vole::") + who + ": no thread for it");
}

// Ends all present registrations for that signal.
void forget_users_locked(int number) noexcept VOLE_REQUIRES(own.lock) {
  for (signal_listener* l = own.first; l != nullptr; l = l->next) {
    l->wanted &= ~(std::uint64_t{1} << (number - 1));
    if (l->heard == number) l->heard = 0;
  }
  own.users[number] = 0;
}

void set_aside(const char* who, int number, int (*action)(int) noexcept) {
  checked(who, std::span<const int>(&number, 1));
  own.lock.acquire();
  forget_users_locked(number);
  const int error = action(number);
  own.lock.release();
  if (error != 0) refuse(who, number, "is refused by the system");
}

}  // namespace

signal_listener* listen_to_signals(send_chan<int> to, std::span<const int> signals) {
  constexpr const char* who = "signal_notify";
  if (to == nullptr) throw std::invalid_argument("vole::signal_notify: the nil channel");
  const std::uint64_t wanted = checked(who, signals);
  return listen(who, std::make_unique<signal_listener>(std::move(to)), wanted);
}

signal_listener* listen_to_signals(context canceled, std::span<const int> signals) {
  constexpr const char* who = "signal_context";
  const std::uint64_t wanted = checked(who, signals);
  return listen(who, std::make_unique<signal_listener>(std::move(canceled)), wanted);
}

void end_listening(signal_listener* l) noexcept {
  if (in_forked_child()) return;
  end(*l);
  delete l;
}

}  // namespace detail

void ignore_signal(int number) {
  detail::end_if_left_behind();
  detail::set_aside("ignore_signal", number, &os::ignore_signal);
}

void reset_signal(int number) {
  detail::end_if_left_behind();
  detail::set_aside("reset_signal", number, &os::reset_signal);
}

}  // namespace v0
}  // namespace vole
