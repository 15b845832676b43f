// exit_goroutine() in a spawned goroutine: a false report of UBSan, or a panic.
//
//     spawned goroutine
//     exit_goroutine(): a forced unwind, which is no C++ exception
//       catch (abi::__forced_unwind&) in the task: the library binds the reference to
//         nothing; UBSan: "reference binding to null pointer"
//
//     goroutine with a handle                other
//     exit_goroutine()                       throws
//       ~join_handle: joins it; is the
//       stack unwinding? uncaught_exceptions()
//       says 0 in a forced unwind:
//       "nobody collected this": a panic
//
// Now the task's frame is exempt from that check (include/vole/detail/join.h), and a
// goroutine that exits knows it (unwinding, src/api/go.cc).

#include <vole/vole.h>

#include <atomic>
#include <stdexcept>
#include <system_error>

#include "regress.h"

namespace {

VOLE_AT_PROCS(ExitInSpawnedGoroutine, 1, 2, 4);

struct counts_its_end {
  std::atomic<int>& n;
  ~counts_its_end() { ++n; }
};

TEST_P(ExitInSpawnedGoroutine, JoinSaysSo) {
  run([] {
    for (int i = 0; i < 200; ++i) {
      std::atomic<int> ended{0};
      auto h = vole::spawn([&ended, i]() -> int {
        const counts_its_end local{ended};
        if (i % 2 == 0) vole::yield();
        vole::exit_goroutine();
      });
      try {
        h.join();
        ADD_FAILURE() << "join() gave a result";
      } catch (const std::system_error& e) {
        EXPECT_EQ(e.code(), vole::errc::goroutine_exited);
      }
      EXPECT_EQ(ended, 1);
    }
  });
}

TEST_P(ExitInSpawnedGoroutine, DetachedAndUnjoinedAreQuiet) {
  run([] {
    for (int i = 0; i < 50; ++i) {
      vole::wait_group exited;
      exited.add(2);
      vole::spawn([&exited] {
        exited.done();
        vole::exit_goroutine();
      }).detach();
      auto unjoined = vole::spawn([&exited] {
        exited.done();
        vole::exit_goroutine();
      });
      exited.wait();
    }
    // One that is abandoned while it unwinds loses what it unwinds with.
    while (vole::num_goroutines() != 1) vole::yield();
  });
}

TEST_P(ExitInSpawnedGoroutine, FailedHandleDestroyedByTheExitIsNoPanic) {
  run([] {
    for (int i = 0; i < 100; ++i) {
      std::atomic<int> ended{0};
      vole::wait_group done;
      done.go([&ended] {
        const counts_its_end outer{ended};
        auto failed = vole::spawn([] { throw std::runtime_error("nobody collects this"); });
        const counts_its_end inner{ended};
        vole::exit_goroutine();
      });
      done.wait();
      EXPECT_EQ(ended, 2);
    }
  });
}

// The next goroutine in the same record starts afresh: its handles panic as ever, and join.
TEST_P(ExitInSpawnedGoroutine, NextInTheRecordIsNotExiting) {
  run([] {
    for (int i = 0; i < 100; ++i) {
      vole::wait_group done;
      done.go([] { vole::exit_goroutine(); });
      done.wait();
      EXPECT_THROW(vole::spawn([] { throw std::runtime_error("collected"); }).join(),
                   std::runtime_error);
    }
  });
}

}  // namespace
