// exit_goroutine(): the stack unwinds, destructors run, the goroutine is over.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fixture.h"

namespace {

class ExitGoroutine : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(ExitGoroutine);

struct note_in {
  std::string& log;
  char what;
  ~note_in() { log += what; }
};

[[gnu::noinline]] void nested(std::string& log, int depth) {
  const note_in mine{log, static_cast<char>('a' + depth)};
  if (depth > 0) {
    nested(log, depth - 1);
    log += '!';  // never reached
  }
  if (depth == 0) vole::exit_goroutine();
}

TEST_P(ExitGoroutine, RunsDestructorsInnermostFirst) {
  run([] {
    std::string log;
    vole::wait_group done;
    done.go([&] { nested(log, 3); });
    done.wait();
    EXPECT_EQ(log, "abcd");
  });
}

TEST_P(ExitGoroutine, DestroysTheCallable) {
  run([] {
    auto shared = std::make_shared<int>(1);
    vole::wait_group done;
    done.go([shared] { vole::exit_goroutine(); });                             // in the record
    done.go([shared, big = std::array<char, 200>{}] {  // in a box
      static_cast<void>(big);
      vole::exit_goroutine();
    });
    done.wait();
    EXPECT_EQ(shared.use_count(), 1);
  });
}

TEST_P(ExitGoroutine, CatchAllMustRethrowAndThenItGoesOn) {
  run([] {
    std::string log;
    vole::wait_group done;
    done.go([&] {
      const note_in outer{log, 'o'};
      try {
        const note_in inner{log, 'i'};
        vole::exit_goroutine();
      } catch (const std::exception&) {
        log += '!';  // it is nobody's exception
      } catch (...) {
        log += 'c';
        throw;
      }
    });
    done.wait();
    EXPECT_EQ(log, "ico");
  });
}

TEST_P(ExitGoroutine, InsideACatchBlockLeavesNoExceptionBehind) {
  run([] {
    for (int i = 0; i < 20; ++i) {
      vole::wait_group done;
      done.go([] {
        try {
          throw std::runtime_error("handled");
        } catch (const std::runtime_error&) {
          vole::exit_goroutine();
        }
      });
      done.go([] {
        EXPECT_EQ(std::current_exception(), nullptr);
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      });
      done.wait();
      EXPECT_EQ(std::current_exception(), nullptr);
    }
  });
}

TEST_P(ExitGoroutine, DestructorsInsideACatchBlockMayYield) {
  constexpr int kYields = 20;
  struct yields {
    ~yields() {
      const std::exception_ptr mine = std::current_exception();
      EXPECT_NE(mine, nullptr);
      for (int i = 0; i < kYields; ++i) {
        vole::yield();
        EXPECT_EQ(std::current_exception(), mine);
      }
    }
  };
  run([] {
    vole::wait_group done;
    for (int i = 0; i < 10; ++i) {
      done.go([] {
        try {
          throw std::runtime_error("handled");
        } catch (const std::runtime_error&) {
          const yields at_the_end;
          vole::exit_goroutine();
        }
      });
      done.go([] {
        for (int k = 0; k < kYields; ++k) {
          EXPECT_EQ(std::current_exception(), nullptr);
          vole::yield();
        }
      });
    }
    done.wait();
  });
}

TEST_P(ExitGoroutine, DestructorsMayYieldAndWait) {
  struct waits {
    vole::wait_group& group;
    ~waits() {
      vole::yield();
      group.wait();
    }
  };
  run([] {
    vole::wait_group gate, done;
    gate.add();
    for (int i = 0; i < 10; ++i)
      done.go([&] {
        const waits at_the_end{gate};
        vole::exit_goroutine();
      });
    vole::yield();
    gate.done();
    done.wait();
  });
}

TEST_P(ExitGoroutine, ThousandsInARow) {
  run([] {
    std::atomic<int> ended{0};
    struct count_one {
      std::atomic<int>& n;
      ~count_one() { ++n; }
    };
    vole::wait_group done;
    for (int i = 0; i < 2000; ++i)
      done.go([&] {
        const count_one one{ended};
        if (ended % 2 == 0) vole::yield();
        vole::exit_goroutine();
      });
    done.wait();
    EXPECT_EQ(ended, 2000);
  });
}

TEST_P(ExitGoroutine, OnAPlainThreadIsALogicError) {
  EXPECT_THROW(vole::exit_goroutine(), std::logic_error);
}

}  // namespace
