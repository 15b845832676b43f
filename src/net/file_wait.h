// One wait of a goroutine or a plain thread for some of several files that are not vole's own.
//
// Who    foreign.cc, ready.cc. User context.
// Law    the frame may be left only after wait() has returned: until then its watches are in the
//        poller's records (poll/watch.h), its clock may be in a timer heap, its context may know it.
// Law    whoever ends the wait says so by ending the party, and wakes it if that put him in charge.
// Note   the runtime may end under a goroutine in here. `over` settles who takes its watches out: it,
//        or the end of the runtime.
// Proof  tests/stress/foreign_stress_test.cc; tests/api/foreign_test.cc
#pragma once

#include <cstdint>

#include "poll/watch.h"
#include "sched/park.h"
#include "sched/wait/interrupt.h"
#include "sched/wait/p_timers.h"

namespace vole {
inline namespace v0 {
namespace detail {

class file_wait {
 public:
  enum class outcome : std::uint8_t {
    again,     // something has come, or seems to have: look
    late,      // nothing, and the time is over
    canceled,  // the context is done
    refused,   // this cannot be waited for here: `error`
  };
  // Each of the watches says `fd` and `wants`; `until` is INT64_MAX for no limit; `by` may be null.
  file_wait(rt::poll::watched* watches, unsigned n, std::int64_t until,
            rt::interrupter* by) noexcept;
  file_wait(const file_wait&) = delete;
  file_wait& operator=(const file_wait&) = delete;
  ~file_wait() = default;

  outcome wait() noexcept;

  int error = 0;  // of `refused`; rt::poll::kNotHere: too many, or no memory

 private:
  struct clock : rt::timer {
    file_wait* of = nullptr;
  };
  struct stop : rt::interrupt {
    file_wait* of = nullptr;
    rt::waiter* whom = nullptr;
  };

  bool begin(rt::M* m) noexcept;
  bool watch_all(rt::M* m) noexcept;
  void start_clock(rt::M* m) noexcept;
  void end() noexcept;
  bool is_late() noexcept;
  outcome result() const noexcept;
  static void ring(rt::timer* t, rt::M* m) noexcept;
  static bool claim(rt::interrupt& i, rt::M* m) noexcept;
  static void fire(rt::interrupt& i, rt::M* m) noexcept;
  static void abandon(void* self, rt::waiter* w) noexcept;

  rt::poll::watched* const watches_;
  const unsigned n_;
  const std::int64_t until_;
  rt::interrupter* const by_;
  rt::poll::party party_;
  clock clock_;
  stop stop_;
  bool clock_set_ = false;
  base::atomic<bool> late_{false}, canceled_{false};
  base::atomic<std::uint32_t> over_{0};
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
