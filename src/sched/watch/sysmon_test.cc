// sysmon: when it is woken, and that it follows the machine. Its looks at a P are in slices_test.cc and
// invite_test.cc, its pace in pace_test.cc.

#include "sched/watch/sysmon.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <vole/vole.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "sched/state.h"

namespace vole::rt {
namespace {

using namespace std::chrono_literals;

// The number of Ps is the machine's, unless the test says another one.
const int no_number = unsetenv("VOLE_MAXPROCS") + unsetenv("GOMAXPROCS");

template <class Pred>
bool eventually(Pred pred) {
  const auto until = std::chrono::steady_clock::now() + 30s;
  while (!pred()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

// Where this process may run: all its threads, sysmon's among them.
void allow(const cpu_set_t& where) {
  std::error_code gone;  // a thread that ends meanwhile
  for (std::filesystem::directory_iterator it("/proc/self/task", gone), end; !gone && it != end;
       it.increment(gone))
    sched_setaffinity(std::stoi(it->path().filename()), sizeof where, &where);
}

cpu_set_t first_of(const cpu_set_t& all) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) {
      CPU_SET(cpu, &one);
      break;
    }
  return one;
}

TEST(Sysmon, ANumberOfPsThatNobodySaidIsThatOfTheProcessors) {  // [3]
  ASSERT_EQ(no_number, 0);
  sched.settings.procs = 0;  // what another test said is forgotten
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  vole::run([&] {
    const int had = vole::max_procs();
    allow(first_of(all));
    EXPECT_TRUE(eventually([] { return vole::max_procs() == 1; }));
    allow(all);
    EXPECT_TRUE(eventually([&] { return vole::max_procs() == had; }));
  });
}

template <class Body>
void run_at_one_p(Body body) {
  const int had = vole::set_max_procs(1);
  vole::run(body);
  vole::set_max_procs(had);
}

// It sleeps while every P is idle. (It may have woken by itself just then, to look after stacks: then
// nobody need ring.)
TEST(Sysmon, IsRungByWhoTakesTheFirstP) {  // [26]
  run_at_one_p([] {
    bool rang = false;
    for (int tries = 0; tries < 20 && !rang; ++tries) {
      wait_group gate;
      gate.add();
      std::uint32_t before = 0;
      std::thread plain([&] {
        eventually([] { return sysmon::is_asleep(); });
        before = sysmon::times_roused();
        gate.done();
      });
      gate.wait();
      plain.join();
      rang = sysmon::times_roused() != before;
    }
    EXPECT_TRUE(rang);
  });
}

// Somebody waits for the P of a goroutine that begins a call: a sysmon that looks seldom is woken.
// (It may look often for another reason: then nobody need wake it.)
TEST(Sysmon, IsRungByACallThatMayBlock) {  // [23] [26]
  run_at_one_p([] {
    bool rang = false;
    for (int tries = 0; tries < 200 && !rang; ++tries) {
      vole::go([] {});
      const auto until = std::chrono::steady_clock::now() + 5ms;  // it slows down
      while (std::chrono::steady_clock::now() < until) cpu_relax();
      const std::uint32_t before = sysmon::times_roused();
      vole::blocking([] {});
      rang = sysmon::times_roused() != before;
      vole::yield();
    }
    EXPECT_TRUE(rang);
  });
}

}  // namespace
}  // namespace vole::rt
