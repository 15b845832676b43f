// A P is given back to an M that has moved on: the program dies of SIGSEGV in give_back.
//
//     M (P0)                                 stopper
//     in user code                           takes P0: p->taken_from = M
//     enters: no P; queues its goroutine,
//       goes to sleep                        start(): M is not on its way in (any more),
//     woken with another P, idles again        so P0 is M's still: M->curg is null
//                                            set_status(*M->curg, ...): SIGSEGV
//
// "On its way in" was a flag that the M set and cleared. Now the M says which P was
// taken from it (away), and says so only until it has got another one [24] [33].

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "regress.h"

namespace {

using vole_test::rounds;

VOLE_AT_PROCS(PGivenBackTwice, 2, 8);

struct nowhere {
  std::FILE* file = std::fopen("/dev/null", "w");
  ~nowhere() { std::fclose(file); }
};

// Ms come in, park and wake beside the stopper, which is a plain thread.
TEST_P(PGivenBackTwice, StopsBesideShortGoroutines) {  // [33]
  const nowhere sink;
  vole::run([&] {
    std::atomic<bool> stop{false};
    std::thread stopper([&] {
      while (!stop) vole::dump_goroutines(sink.file);
    });
    std::thread spawner([&] {
      while (!stop) {
        if (vole::num_goroutines() > 64) continue;  // no backlog: main must come round, too
        for (int i = 0; i < 4; ++i)
          vole::go([] { vole_test::compute_for(std::chrono::microseconds(10)); });
        vole_test::compute_for(std::chrono::microseconds(30));
      }
    });
    for (rounds r(20000); r.next();) {
      vole_test::compute_for(std::chrono::microseconds(20));
      vole::yield();
    }
    stop = true;
    stopper.join();
    spawner.join();
  });
}

// The stopper is a goroutine; the others have just parked.
TEST_P(PGivenBackTwice, StopsBesideGoroutinesThatPark) {  // [24] [33]
  const nowhere sink;
  vole::run([&] {
    for (rounds r(20000); r.next();) {
      vole::wait_group there, gate, gone;
      gate.add();
      for (int k = 0; k < 2; ++k) {
        there.add();
        gone.go([&] {
          there.done();
          gate.wait();
        });
      }
      there.wait();
      for (int i = 0; i < 5; ++i) vole::yield();
      vole::dump_goroutines(sink.file);
      gate.done();
      gone.wait();
    }
  });
}

}  // namespace
