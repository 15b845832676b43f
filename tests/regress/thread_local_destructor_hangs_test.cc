// run() hangs when a thread_local object's destructor on one of its threads uses vole.
//
//     run()                                  M
//     the runtime ends: asks the Ms to end
//     joins the M, phase is stopping         leaves m_main; thread_local destructors run
//                                            vole::go(): a plain thread now, a guest:
//                                              waits until stopping is over
//     waits for the M, for ever
//
// Now an M says farewell before its thread ends, the phase passes to stopped on that
// word, and threads are joined last, when nobody waits for the runtime any more.

#include <vole/vole.h>

#include <atomic>

#include "regress.h"

namespace {

std::atomic<int> destroyed;

struct uses_vole {
  int touched = 0;
  ~uses_vole() {
    vole::wait_group done;
    done.go([] { vole::yield(); });
    done.wait();
    vole::stats();
    ++destroyed;
  }
};
thread_local uses_vole last_words;

VOLE_AT_PROCS(ThreadLocalDestructorHangs, 1, 2, 4);

TEST_P(ThreadLocalDestructorHangs, GoFromItStartsTheNextRuntime) {
  for (int round = 0; round < 10; ++round) {
    destroyed = 0;
    vole::run([] { ++last_words.touched; });
    EXPECT_GE(destroyed, 1) << "run() joins its threads";
    vole::shutdown();
  }
}

// A thread that ends with its locked goroutine, in the middle of everything [25].
TEST_P(ThreadLocalDestructorHangs, OnAThreadThatEndsWithItsGoroutine) {
  run([] {
    destroyed = 0;
    for (int i = 0; i < 10; ++i) {
      vole::wait_group done;
      done.go([] {
        vole::lock_os_thread();
        ++last_words.touched;
      });
      done.wait();
    }
    EXPECT_TRUE(vole_test::eventually([] {
      vole::yield();
      return destroyed == 10;
    })) << destroyed;
  });
}

}  // namespace
