// vole_preemptible: a loop that calls anything yields when its slice is over, wherever it is.
// This test is built with it (cmake/tests.cmake).

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <cerrno>

#include "fixture.h"

namespace {

[[gnu::noinline]] void do_nothing() { asm volatile(""); }

// Spins in a loop of calls until the other one has run, on one P.
template <class Spin>
void spin_beside_another(Spin spin) {
  const int procs = vole::set_max_procs(1);
  const int preemptions = vole::run([&] {
    std::atomic<bool> ran{false};
    vole::go([&ran] { ran = true; });
    spin(ran);
    return static_cast<int>(vole::stats().preemptions + vole::stats().evictions);
  });
  vole::set_max_procs(procs);
  EXPECT_GT(preemptions, 0);
}

TEST(Preemptible, ALoopThatCallsAFunctionLetsOthersRun) {
  spin_beside_another([](const std::atomic<bool>& ran) {
    while (!ran.load(std::memory_order_relaxed)) do_nothing();
  });
}

TEST(Preemptible, ErrnoGoesWithTheGoroutine) {
  spin_beside_another([](const std::atomic<bool>& ran) {
    errno = EDOM;
    while (!ran.load(std::memory_order_relaxed)) do_nothing();
    EXPECT_EQ(errno, EDOM);
  });
}

// [29]: asked to yield, it does so at the next call, and its P is not taken.
TEST(Preemptible, YieldsBeforeItIsEvicted) {
  const int procs = vole::set_max_procs(1);
  std::uint64_t yielded = 0;
  vole::run([&] {
    vole::go([] {
      while (true) vole::yield();
    });
    while ((yielded = vole::stats().preemptions) == 0) do_nothing();
  });
  vole::set_max_procs(procs);
  EXPECT_GE(yielded, 1u);
}

}  // namespace
