// vole_preemptible: a loop that calls anything yields when its slice is over, wherever it is.
// This test is built with it (cmake/tests.cmake).

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "fixture.h"

namespace {

[[gnu::noinline]] void do_nothing() { asm volatile(""); }

// No P is taken: the loop must yield by itself.
[[maybe_unused]] const int no_eviction = setenv("VOLE_DEBUG", "evict=0", 1);

// Spins in a loop of calls until the other one has run, on one P. That one waits in the global queue.
template <class Spin>
void spin_beside_another(Spin spin) {
  const int procs = vole::set_max_procs(1);
  vole::run([&] {
    std::atomic<bool> ran{false};
    std::thread([&] { vole::go([&ran] { ran = true; }); }).join();
    spin(ran);
    EXPECT_GT(vole::stats().preemptions, 0u);
    EXPECT_EQ(vole::stats().evictions, 0u);
  });
  vole::set_max_procs(procs);
}

TEST(Preemptible, ALoopThatCallsAFunctionLetsOthersRun) {  // [29]
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

}  // namespace
