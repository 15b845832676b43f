// Traces begin, end and are copied all the while, and every P is taken from its thread a thousand times
// a second: each generation of each of them can be put in order.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "../api/trace_file.h"
#include "stress.h"
#include "trace/emit.h"

namespace {

using namespace std::chrono_literals;
using vole_test::dice;
using vole_test::expect_good;
using vole_test::scratch;
using vole_test::time_limit;
namespace trace = vole::trace;

const int storm = setenv("VOLE_DEBUG", "storm=100", 1);  // before the first runtime

VOLE_STRESS(TraceStress);

// VOLE_TRACES=n: so many traces, however long that takes.
class budget {
 public:
  bool over() { return asked_ != nullptr ? ++n_ >= std::atoi(asked_) : limit_.over(); }

 private:
  const char* const asked_ = std::getenv("VOLE_TRACES");
  const time_limit limit_;
  int n_ = 0;
};

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

void step(dice& d, vole::chan<int>& c, vole::mutex& m) {
  switch (d.below(9)) {
    case 0: c.send(1); break;
    case 1: (void)c.recv(); break;
    case 2: vole::yield(); break;
    case 3: vole::sleep_for(std::chrono::microseconds(d.below(300))); break;
    case 4: {
      const std::lock_guard hold(m);
      if (d.below(4) == 0) vole::yield();
      break;
    }
    case 5:
      vole::blocking([&] {
        if (d.below(2) == 0) std::this_thread::sleep_for(std::chrono::microseconds(d.below(300)));
        if (d.below(4) == 0) vole::yield();  // a call that parks
      });
      break;
    case 6: vole::spawn([] { vole::yield(); }).join(); break;
    case 7: {
      const trace::region r("a stretch");
      volatile int x = fib(static_cast<int>(d.below(18)));
      (void)x;
      break;
    }
    default:
      if (d.below(20) == 0) vole::set_max_procs(1 + static_cast<int>(d.below(4)));
      trace::log("step", "done");
  }
}

// Goroutines at work while `fn` runs on a plain thread. Those that wait in the channel at the end are
// served until all have left.
template <class Fn>
void beside_a_party(Fn&& fn) {
  ASSERT_EQ(storm, 0);
  std::atomic<bool> over{false};
  vole::run([&] {
    vole::chan<int> c(4);
    vole::mutex m;
    vole::wait_group gone;
    for (int i = 0; i < 8; ++i)
      gone.go([&, i] {
        dice d(static_cast<std::uint64_t>(i));
        while (!over) step(d, c, m);
      });
    std::thread tracer([&] {
      fn();
      over = true;
    });
    while (!over) {
      (void)c.try_recv();
      (void)c.try_send(0);
      vole::sleep_for(100us);
    }
    vole::wait_group out;
    std::atomic<bool> all{false};
    out.go([&] {
      while (!all) {
        (void)c.try_recv();
        (void)c.try_send(0);
        vole::sleep_for(100us);
      }
    });
    gone.wait();
    all = true;
    out.wait();
    vole::blocking([&] { tracer.join(); });
  });
}

TEST_P(TraceStress, FilesComeAndGo) {
  const scratch file("stress.trace");
  std::uint64_t events = 0;
  beside_a_party([&] {
    budget limit;
    do {
      trace::start(file.path());
      std::this_thread::sleep_for(5ms);
      trace::stop();
      events += expect_good(file.path()).events;
    } while (!limit.over() && !HasFailure());
  });
  EXPECT_GT(events, 0u);
  vole::set_max_procs(procs());
}

TEST_P(TraceStress, SnapshotsOfARing) {
  const scratch file("snapshot.trace");
  beside_a_party([&] {
    budget limit;
    do {
      trace::record({.bytes = 1u << 20});
      for (int i = 0; i < 3; ++i) {
        std::this_thread::sleep_for(3ms);
        trace::snapshot(file.path());
        expect_good(file.path());
      }
      trace::stop_recording();
    } while (!limit.over() && !HasFailure());
  });
  vole::set_max_procs(procs());
}

// Some 1 ms each way: the order does not come from clocks.
TEST_P(TraceStress, ClocksThatDisagree) {
  const scratch file("skewed.trace");
  vole::rt::trace::skew_clocks(300'000);  // ticks of at most 4 ns
  beside_a_party([&] {
    const time_limit limit(400ms);
    do {
      trace::start(file.path());
      std::this_thread::sleep_for(5ms);
      trace::stop();
      expect_good(file.path());
    } while (!limit.over() && !HasFailure());
  });
  vole::rt::trace::skew_clocks(0);
  vole::set_max_procs(procs());
}

// The runtime ends and starts while it is recorded.
TEST_P(TraceStress, RuntimesComeAndGo) {
  const scratch file("runtimes.trace");
  trace::start(file.path());
  const time_limit limit(500ms);
  std::uint64_t n = 0;
  do {
    vole::run([&] {
      vole::wait_group gone;
      for (int i = 0; i < 4; ++i)
        gone.go([&, d = dice(++n)]() mutable {
          for (int k = 0; k < 20; ++k) vole::yield();
          if (d.below(2) == 0) vole::sleep_for(100us);
        });
      gone.wait();
    });
  } while (!limit.over());
  trace::stop();
  expect_good(file.path());
  expect_clean();
}

}  // namespace
