// Dumps, stall reports and SIGQUIT while every P is taken from its thread all the time.
//
// Law    the work goes on and comes out right, nobody hangs, and every dump is whole.
// Note   VOLE_STRESS_SCALE=60 makes it minutes, as one should after a change to dumps, under ASan and
//        TSan; VOLE_SEED=n repeats a run.

#include <vole/vole.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "stress.h"

namespace {

using vole_test::dice;
using vole_test::time_limit;

// Before the first runtime: the environment is read once.
const int storm = setenv("VOLE_DEBUG", "storm=100,stall=5,sigquit=1", 1);

// Not vole_test::Stress: the reporter may have files open when that counts them.
class ReportStress : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    vole_test::seed();
    was_ = vole::set_max_procs(GetParam());
  }
  void TearDown() override { vole::set_max_procs(was_); }

 private:
  int was_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Ps, ReportStress, testing::Values(1, 2, 4, 64), vole_test::procs_name);

// What is printed on stderr is not looked at, only that it can be printed. One who does not read
// would stop the reporter.
class quiet_stderr {
 public:
  quiet_stderr() : was_(::dup(STDERR_FILENO)) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  ~quiet_stderr() {
    ::dup2(was_, STDERR_FILENO);
    ::close(was_);
  }
  quiet_stderr(const quiet_stderr&) = delete;
  quiet_stderr& operator=(const quiet_stderr&) = delete;

 private:
  int was_;
};

std::size_t dump_once(dice& d) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  vole::dump_goroutines(out, d.below(4) == 0 ? vole::dump_format::json : vole::dump_format::text);
  std::fclose(out);
  std::free(text);
  return size;
}

[[gnu::noinline]] int spin(std::uint32_t turns) {
  volatile std::uint32_t n = 0;
  while (n < turns) n = n + 1;
  return 1;
}

struct yard {
  vole::mutex lock;
  long sum = 0;  // under lock
  vole::chan<int> values{4};
  std::atomic<long> done{0};
};

// Something of everything that a dump has words for.
void step(yard& y, dice& d) {
  switch (d.below(7)) {
    case 0: spin(d.below(200'000)); break;
    case 1: {
      const std::lock_guard hold(y.lock);
      ++y.sum;
      ++y.done;
      spin(d.below(2'000));
      break;
    }
    case 2: (void)y.values.try_send(1); break;
    case 3: (void)y.values.try_recv(); break;
    case 4: vole::sleep_for(std::chrono::microseconds(d.below(300))); break;
    case 5: vole::blocking([&] { spin(d.below(20'000)); }); break;
    default: vole::spawn([] { spin(1'000); }).join();
  }
}

TEST_P(ReportStress, WorkGoesOnWhileEverythingIsReported) {
  ASSERT_EQ(storm, 0);
  const quiet_stderr quiet;
  const time_limit limit(std::chrono::milliseconds(1200));
  vole::run([&] {
    yard y;
    vole::wait_group all;
    for (int i = 0; i < 12; ++i)
      all.go([&, d = dice(static_cast<std::uint64_t>(i))]() mutable {
        while (!limit.over()) step(y, d);
      });
    all.go([&, d = dice(100)]() mutable {
      while (!limit.over()) EXPECT_GT(dump_once(d), 0u);
    });
    std::thread outsider([&] {
      for (dice d(200); !limit.over(); std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
        if (d.below(4) == 0) ::kill(::getpid(), SIGQUIT);
        if (d.below(4) == 0) ::raise(SIGQUIT);
        EXPECT_GT(dump_once(d), 0u);
        (void)vole::goroutines();
      }
    });
    vole::blocking([&] { outsider.join(); });
    all.wait();
    EXPECT_EQ(y.sum, y.done);
  });
}

// Runtimes that end while they are looked at: after goroutines that ran, or with some that wait. (None
// is left running: one that finishes after its runtime is not what is tested here.)
TEST_P(ReportStress, RuntimesEndUnderTheReporter) {
  const quiet_stderr quiet;
  vole::run([] {});  // the handler is there
  const time_limit limit(std::chrono::milliseconds(800));
  const vole::chan<> never;  // here: who is abandoned drops nothing
  std::atomic<bool> over{false};
  std::thread outsider([&] {
    for (dice d(300); !over; std::this_thread::sleep_for(std::chrono::microseconds(300))) {
      d.below(2) == 0 ? ::kill(::getpid(), SIGQUIT) : ::raise(SIGQUIT);
      if (d.below(4) == 0) (void)dump_once(d);
    }
  });
  for (dice d(400); !limit.over();)
    vole::run([&] {
      const bool waits = d.below(2) == 0;
      vole::wait_group all;
      for (int i = 0; i < 4; ++i) {
        if (waits) {
          all.go([n = d.below(3'000'000)] { spin(n); });
        } else {
          vole::go([&never] { never.recv(); });
        }
      }
      all.wait();
    });
  over = true;
  outsider.join();
}

}  // namespace
