// A context that can be cancelled: its children, its clock, its end.
//
// Who    src/time; any goroutine, any plain thread, g0 for the clock.
// Law    state goes live -> decided -> closed, once. It leaves live under `lock`, together
//        with the children, and `why` and `cause` never change afterwards. `done` is closed
//        between decided and closed; a thread that reads `decided` closes it itself before
//        it says that there is an error. So for every observer err() is set exactly if done
//        is closed.
// Law    a link in its parent's list holds a reference, and a child one to its parent. The
//        circle is broken by the cancellation, which is certain: the cancel_function
//        cancels at the latest when it is destroyed, and holds a reference until then.
//        So a record is never freed live, or with its timer running.
// Law    `interrupts` are claimed where the state leaves live, under the same lock; those that
//        were claimed are fired after it is closed. A record that is not live has none.
// Note   while the parent is live, its list is its own; afterwards the list belongs to
//        the thread that cancelled the parent. Hence "linked" needs no flag.
//
// Cancelling a tree.
//
//     inside the runtime                       in user context
//     mark the root, take its children         start the functions of after_func
//     close done, stop the clock               request_stop of stop_token()
//     the same for each child, in a loop       drop what was cancelled
//
// The left side runs no user code and cannot be abandoned half-way; no two locks are held
// at once but a timer's inside a context's. The loop needs no memory: it uses the links of the
// children that it has taken.
//
// A goroutine may be abandoned as soon as it has left the runtime, and whatever its frame holds
// is lost. So on a goroutine the functions are started inside as well, and references are
// dropped there unless they are the last; those get a goroutine of their own.
//
// A stop callback (with_stop_token) runs in the middle of request_stop(), where a
// goroutine must not change threads (see sync/condition_variable.cc). It does the left side
// as a guest; on a goroutine, request_stop gets a goroutine of its own. The callback has no
// reference, and takes one only if there still is one (share_unless_gone).
// Proof  tests/stress/context_stress_test.cc
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>

#include <vole/chan.h>
#include <vole/context.h>
#include <vole/detail/access.h>
#include <vole/detail/context_node.h>
#include <vole/errors.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "sched/wait/interrupt.h"
#include "sched/park.h"
#include "sched/wait/p_timers.h"

namespace vole {
inline namespace v0 {
namespace detail {

using rt::M;

// A place in a context's list of what its cancellation reaches.
struct cancel_link {
  explicit cancel_link(bool watch) noexcept : is_watch(watch) {}
  cancel_link* next = nullptr;
  cancel_link* prev = nullptr;
  const bool is_watch;  // a watch_node, not a cancel_node
};

class cancel_node final : public context_node, public cancel_link, public rt::interrupter {
 public:
  enum state : std::uint8_t { live, decided, closed };
  struct on_stop {
    cancel_node* node;
    void operator()() const noexcept;
  };

  // `when`: kNeverNs, or its own deadline. The earlier one wins.
  cancel_node(context_node* from, std::int64_t when, void* site, chan<> d) noexcept;
  ~cancel_node() override;

  std::error_code error() const noexcept;

  [[gnu::visibility("hidden")]] bool arm(rt::interrupt& i) noexcept override;
  [[gnu::visibility("hidden")]] bool disarm(rt::interrupt& i) noexcept override;
  // Empties the list. Returns the interrupts that are to be fired, linked by `next`.
  [[gnu::visibility("hidden")]] rt::interrupt* claim_all_locked(M* m) noexcept;

  cancel_node* const above;             // whose list it is in while that one is live; may be null
  const std::int64_t deadline;          // kNeverNs: none
  const bool own_deadline;              // earlier than any above
  void* const created_at;
  const chan<> done;

  base::lock<base::lock_rank::object> lock;
  base::atomic<state> now{live};        // written under lock until it is not live
  errc why{};                           // written once, before `now` is
  std::exception_ptr cause;             // written once, before `now` is
  std::exception_ptr late;              // the deadline's cause; set before the clock is started
  cancel_link* children = nullptr;      // under lock
  rt::interrupt* interrupts = nullptr;  // under lock: the waits it will end
  bool armed = false;                   // under lock: the clock was started
  std::stop_source source{std::nostopstate};  // under lock; set once
  bool must_stop = false;               // there was a source when it was cancelled; the canceller's

  // The registration of a signal context; the cancel_function ends it.
  base::atomic<class signal_listener*> listener{nullptr};

  rt::timer clock;
  cancel_node* after = nullptr;         // the canceller's list
  std::optional<std::stop_callback<on_stop>> asked;  // with_stop_token
};

// Null: it is never cancelled.
inline cancel_node* canceler_of(const context& c) noexcept {
  const context_node* const n = access::node(c);
  return n != nullptr ? n->canceler : nullptr;
}

// time/stop.cc: with_stop_token; a source of a context's own.
void ask(cancel_node& n, std::stop_token token);
void stop(std::stop_source& source);

// Puts l into n's list, with a reference that the list takes over. False: n is cancelled.
bool adopt(cancel_node& n, cancel_link& l) noexcept;
// Takes it out again; the reference is the caller's. False: n is cancelled, its canceller has it.
// Inside the runtime.
bool disown_inside(cancel_node& n, cancel_link& l) noexcept;

// Idempotent. User context; runs user code. It takes a reference of its own before it wakes anybody,
// since a goroutine that was woken may drop the caller's.
void cancel(cancel_node& n, errc why, const std::exception_ptr& cause);

// The same on a plain thread, which leaves user code to a goroutine. It runs that itself if there is
// no runtime.
void cancel_on_service_thread(cancel_node& n, const std::exception_ptr& cause);

// Starts the clock, and the runtime if none runs.
void start_clock(cancel_node& n) noexcept;

// The watch's half of a cancellation; takes over the link's reference. User context.
void start_watch(cancel_link& l) noexcept;
// The same inside, while a runtime runs. False: it was stopped; the reference is still the caller's.
bool start_watch_inside(cancel_link& l, M* m) noexcept;
bool drop_watch_unless_last(cancel_link& l) noexcept;
// The runtime has ended first: takes over the reference, and runs nothing.
void forget_watch(cancel_link& l) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
