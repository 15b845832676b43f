// Exceptions belong to goroutines: each keeps its own across yields and threads.

#include <vole/vole.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>

#include "fixture.h"

namespace {

constexpr int kGoroutines = 40, kYields = 50;

class Exceptions : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Exceptions);

void yield_often() {
  for (int i = 0; i < kYields; ++i) vole::yield();
}

TEST_P(Exceptions, CaughtOneIsStillOursAfterYields) {
  run([] {
    vole::wait_group done;
    for (int i = 0; i < kGoroutines; ++i)
      done.go([i] {
        const std::string mine = "goroutine " + std::to_string(i);
        try {
          throw std::runtime_error(mine);
        } catch (const std::runtime_error& e) {
          const std::exception_ptr before = std::current_exception();
          for (int k = 0; k < kYields; ++k) {
            vole::yield();
            ASSERT_EQ(std::current_exception(), before);
            ASSERT_EQ(e.what(), mine);
          }
          try {
            throw;
          } catch (const std::runtime_error& again) {
            EXPECT_EQ(again.what(), mine);
          }
        }
        EXPECT_EQ(std::current_exception(), nullptr);
      });
    done.wait();
  });
}

TEST_P(Exceptions, NestedHandlersUnwindInOrder) {
  run([] {
    vole::wait_group done;
    for (int i = 0; i < kGoroutines; ++i)
      done.go([i] {
        try {
          throw i;
        } catch (int outer) {
          yield_often();
          try {
            throw std::to_string(i);
          } catch (const std::string& inner) {
            yield_often();
            EXPECT_EQ(inner, std::to_string(outer));
          }
          yield_often();
          try {
            throw;
          } catch (int again) {
            EXPECT_EQ(again, i);
          }
        }
      });
    done.wait();
  });
}

struct yields_when_destroyed {
  int expected;
  ~yields_when_destroyed() {
    for (int i = 0; i < kYields; ++i) {
      EXPECT_EQ(std::uncaught_exceptions(), expected);
      vole::yield();
    }
    EXPECT_EQ(std::uncaught_exceptions(), expected);
  }
};

TEST_P(Exceptions, UncaughtCountSurvivesYieldsInDestructors) {
  run([] {
    vole::wait_group done;
    for (int i = 0; i < kGoroutines; ++i)
      done.go([i] {
        if (i % 2 == 0) {
          const yields_when_destroyed calm{0};  // beside those in flight
          return;
        }
        try {
          const yields_when_destroyed unwinding{1};
          throw i;
        } catch (int caught) {
          EXPECT_EQ(caught, i);
        }
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      });
    done.wait();
  });
}

TEST_P(Exceptions, NewGoroutineStartsWithoutAny) {
  run([] {
    try {
      throw 1;
    } catch (int) {
      vole::wait_group done;
      for (int i = 0; i < kGoroutines; ++i)
        done.go([] {
          EXPECT_EQ(std::current_exception(), nullptr);
          EXPECT_EQ(std::uncaught_exceptions(), 0);
        });
      done.wait();
      EXPECT_NE(std::current_exception(), nullptr);
    }
  });
}

TEST_P(Exceptions, TravelThroughManyJoins) {
  run([] {
    int caught = 0;
    for (int i = 0; i < 200; ++i) {
      auto h = vole::spawn([i] {
        auto inner = vole::spawn([i]() -> int { throw i; });
        vole::yield();
        return inner.join();
      });
      try {
        h.join();
      } catch (int n) {
        caught += n == i ? 1 : 0;
      }
    }
    EXPECT_EQ(caught, 200);
  });
}

TEST_P(Exceptions, ThrowingBetweenYieldsOnManyGoroutines) {
  run([] {
    std::atomic<int> caught{0};
    vole::wait_group done;
    for (int i = 0; i < kGoroutines; ++i)
      done.go([&, i] {
        for (int k = 0; k < kYields; ++k) try {
            vole::yield();
            if ((i + k) % 2 == 0) throw std::logic_error("even");
            throw k;
          } catch (const std::logic_error&) {
            vole::yield();
            ++caught;
          } catch (int) {
            ++caught;
          }
      });
    done.wait();
    EXPECT_EQ(caught, kGoroutines * kYields);
  });
}

}  // namespace
