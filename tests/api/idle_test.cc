// Quiet when idle: a program that only waits uses no processor.
//
// Note   what is measured is the process's CPU time, which a busy machine does not
//        inflate; the two seconds are how long it waits, not a synchronisation.

#include <vole/vole.h>

#include <ctime>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "fixture.h"
#include "net_pair.h"

namespace {

using vole_test::kSanitized;

class Idle : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Idle);

double cpu_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

// On a plain thread, while nothing happens: the CPU time of a stretch of waiting. Just after the work
// the runtime is not idle yet (Ms look once more, sysmon slows down), and a busy machine delays that. A
// runtime that becomes idle is so in one of ten stretches; one that polls is so in none.
void expect_idle(std::chrono::milliseconds how_long) {
  constexpr double kEnough = 5.0;
  double used = kEnough;
  for (int tries = 0; tries < 10 && used >= kEnough; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const double before = cpu_ms();
    std::this_thread::sleep_for(how_long);
    used = cpu_ms() - before;
  }
  EXPECT_LT(used, kEnough) << "ms of CPU in " << how_long.count() << " ms of waiting";
}

// The same on a goroutine.
void expect_idle_meanwhile(std::chrono::milliseconds how_long) {
  vole::wait_group over;
  over.add();
  std::thread watch([&] {
    expect_idle(how_long);
    over.done();
  });
  over.wait();
  watch.join();
}

TEST_P(Idle, WaitingProgramUsesNoProcessor) {  // [26]
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own threads use the processor";
  vole::run([] {
    vole::wait_group warm;
    for (int i = 0; i < 100; ++i) warm.go([] { vole::yield(); });
    warm.wait();
    expect_idle_meanwhile(std::chrono::seconds(2));
  });
}

TEST_P(Idle, WaitingForTheNetworkUsesNoProcessor) {
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own threads use the processor";
  vole::run([] {
    vole_test::conn_pair p = vole_test::connected_pair();
    p.near.set_read_deadline(vole::now() + std::chrono::hours(1));
    auto reader = vole::spawn([&] { return vole_test::read_error(p.near); });
    expect_idle_meanwhile(std::chrono::seconds(1));
    p.near.close();
    EXPECT_EQ(reader.join(), vole::errc::closed);
  });
}

// A thread that blocks in the kernel keeps nobody awake: neither with other goroutines waiting
// nor, for long, with a P that nobody asks it for.
TEST_P(Idle, BlockedCallUsesNoProcessor) {  // [26] [27]
  if (kSanitized) GTEST_SKIP() << "the sanitizer's own threads use the processor";
  for (const bool told : {false, true}) {
    vole::run([told] {
      int ends[2];
      ASSERT_EQ(::pipe(ends), 0);
      std::thread watch([&] {
        expect_idle(std::chrono::seconds(1));
        EXPECT_EQ(::write(ends[1], "x", 1), 1);
      });
      char c = 0;
      const auto block = [&] { return ::read(ends[0], &c, 1); };
      EXPECT_EQ(told ? vole::blocking(block) : block(), 1);
      watch.join();
      ::close(ends[0]);
      ::close(ends[1]);
    });
  }
}

}  // namespace
