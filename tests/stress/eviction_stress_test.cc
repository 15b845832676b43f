// Everything as always, while every P is taken from its thread all the time (VOLE_DEBUG=storm).
//
// Law    user code does not notice: registers, thread_local objects and the thread
//        itself stay as they are between two suspension points; no call is interrupted.

#include <vole/vole.h>

#include <dlfcn.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

using vole_test::dice;
using vole_test::time_limit;

// Before the first runtime: the environment is read once.
const int storm = setenv("VOLE_DEBUG", "storm=50", 1);

VOLE_STRESS(EvictionStress);

// One party of goroutines, each of which does `step` until the time is over; then there must have
// been evictions.
void party(int n, const std::function<void(dice&)>& step) {
  const time_limit limit(std::chrono::milliseconds(400));
  ASSERT_EQ(storm, 0);
  vole::run([&] {
    vole::wait_group gone;
    for (int i = 0; i < n; ++i)
      gone.go([&, d = dice(static_cast<std::uint64_t>(i))]() mutable {
        do {
          step(d);
          if (d.below(4) == 0) vole::yield();
        } while (!limit.over() || vole::stats().evictions == 0);
      });
    gone.wait();
    EXPECT_GT(vole::stats().evictions, 0u);
  });
}

thread_local int of_this_thread = 0;

// The thread, as whoever computes on it sees it.
class same_thread {
 public:
  ~same_thread() {
    EXPECT_EQ(at_, &of_this_thread);
    EXPECT_EQ(id_, gettid());
  }

 private:
  const int* const at_ = &of_this_thread;
  const pid_t id_ = gettid();
};

// ── registers ──

// Eight sums in vector registers, one in the x87's, one in integers: all live at once.
[[gnu::noinline]] double churn(std::uint32_t seed) {
  double v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  long double x = seed;
  std::uint64_t n = seed;
  for (int i = 0; i < 20'000; ++i) {
    for (double& each : v) each = each * 1.0000001 + 0.5;
    x = x / 1.0000001L + 1;
    n = n * 6364136223846793005u + 1442695040888963407u;
  }
  return std::accumulate(v, v + 8, 0.0) + static_cast<double>(x) + static_cast<double>(n >> 40);
}

TEST_P(EvictionStress, RegistersStayAsTheyAre) {  // [30]
  std::vector<double> expected;
  for (std::uint32_t s = 0; s < 16; ++s) expected.push_back(churn(s));
  party(6, [&](dice& d) {
    const same_thread here;
    const std::uint32_t s = d.below(16);
    EXPECT_EQ(churn(s), expected[s]);
  });
}

// ── libraries that hold locks and per-thread state ──

void allocate(dice& d) {
  std::map<std::uint32_t, std::string> m;
  for (int i = 0; i < 100; ++i) m[d.below(50)] = std::string(d.below(2000), 'x');
  std::size_t sum = 0, by_char = 0;
  for (const auto& [k, s] : m) {
    sum += s.size();
    for (const char c : s) by_char += c == 'x' ? 1 : 0;
  }
  EXPECT_EQ(sum, by_char);
}

void print(dice& d, std::FILE* out) {
  for (int i = 0; i < 50; ++i) {
    const std::uint32_t n = d.below(1u << 30);
    char text[64];
    std::snprintf(text, sizeof text, "%u %.17g", n, n / 3.0);
    std::fprintf(out, "%s\n", text);
    unsigned back = 0;
    double third = 0;
    EXPECT_EQ(std::sscanf(text, "%u %lf", &back, &third), 2);
    EXPECT_EQ(back, n);
    EXPECT_EQ(third, n / 3.0);
  }
}

void load() {
  void* const lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(lib, nullptr) << dlerror();
  auto* const cosine = reinterpret_cast<double (*)(double)>(dlsym(lib, "cos"));
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  dlclose(lib);
}

void fail(dice& d, int depth) {
  if (depth == 0) throw std::runtime_error(std::to_string(d.below(1000)));
  try {
    fail(d, depth - 1);
  } catch (const std::runtime_error& e) {
    const std::string said = e.what();
    try {
      throw std::logic_error("inner");
    } catch (const std::logic_error& inner) {
      EXPECT_STREQ(inner.what(), "inner");
    }
    EXPECT_EQ(said, e.what());
    throw;
  }
}

TEST_P(EvictionStress, LibrariesGoOn) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  ASSERT_NE(nowhere, nullptr);
  party(8, [&](dice& d) {
    const same_thread here;
    switch (d.below(4)) {
      case 0: return allocate(d);
      case 1: return print(d, nowhere);
      case 2: return load();
      default: EXPECT_THROW(fail(d, 5), std::runtime_error);
    }
  });
  std::fclose(nowhere);
}

// An exception in flight across suspension points and evictions.
TEST_P(EvictionStress, CaughtExceptionsStayTheGoroutines) {
  party(8, [](dice& d) {
    const std::uint32_t n = d.below(1000);
    try {
      throw n;
    } catch (const std::uint32_t& caught) {
      for (std::uint32_t i = d.below(2000); i > 0; --i) of_this_thread += 1;
      vole::yield();
      EXPECT_EQ(caught, n);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  });
}

// ── no call is interrupted ──

timespec in_a_millisecond() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += 1'000'000;
  if (t.tv_nsec >= 1'000'000'000) {
    t.tv_nsec -= 1'000'000'000;
    ++t.tv_sec;
  }
  return t;
}

TEST_P(EvictionStress, NoCallReturnsEintr) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int waiting = epoll_create1(0);
  sem_t sem;
  ASSERT_EQ(sem_init(&sem, 0, 0), 0);
  party(8, [&](dice& d) {
    const same_thread here;
    pollfd fd{ends[0], POLLIN, 0};
    epoll_event event;
    const timespec brief{0, 1'000'000}, until = in_a_millisecond();
    switch (d.below(4)) {
      case 0: EXPECT_EQ(poll(&fd, 1, 1), 0) << errno; break;
      case 1: EXPECT_EQ(nanosleep(&brief, nullptr), 0) << errno; break;
      case 2: EXPECT_EQ(epoll_wait(waiting, &event, 1, 1), 0) << errno; break;
      default: EXPECT_EQ(sem_timedwait(&sem, &until), -1); EXPECT_EQ(errno, ETIMEDOUT);
    }
  });
  sem_destroy(&sem);
  close(waiting);
  close(ends[0]);
  close(ends[1]);
}

// ── the runtime itself ──

// Values go round a ring of channels; beside it locks, sleeps, blocking calls, spawns, resizes.
TEST_P(EvictionStress, NothingIsLost) {  // [24] [25] [33]
  std::atomic<long> sent{0}, received{0};
  std::mutex foreign;
  vole::mutex own;
  long guarded = 0, entered = 0;
  const vole::chan<long> c(4);
  party(12, [&](dice& d) {
    switch (d.below(8)) {
      case 0:
        if (c.try_send(7) == vole::chan_status::ok) sent += 7;
        break;
      case 1:
        if (const auto v = c.try_recv()) received += *v;
        break;
      case 2: vole::sleep_for(std::chrono::microseconds(d.below(200))); break;
      case 3: vole::blocking([&] { usleep(d.below(200)); }); break;
      case 4: {
        const std::lock_guard hold(own);
        ++guarded;
        ++entered;
        break;
      }
      case 5: {
        const std::lock_guard hold(foreign);
        usleep(d.below(50));
        break;
      }
      case 6: {
        vole::lock_os_thread();
        const pid_t id = gettid();
        EXPECT_EQ(vole::spawn([] { return 5; }).join(), 5);
        EXPECT_EQ(gettid(), id);
        vole::unlock_os_thread();
        break;
      }
      default:
        if (d.below(8) == 0) vole::set_max_procs(1 + static_cast<int>(d.below(4)));
    }
  });
  vole::run([&] {
    while (const auto v = c.try_recv()) received += *v;
  });
  EXPECT_EQ(sent, received);
  EXPECT_EQ(guarded, entered);
}

// Runtimes end under goroutines that have just lost their P.
TEST_P(EvictionStress, RuntimesEndAndStartAgain) {
  for (const time_limit limit; !limit.over();) {
    dice d(vole_test::seed());
    vole::run([&] {
      vole::wait_group gone;
      for (int i = 0; i < 8; ++i)
        gone.go([n = d.below(100'000)] {
          for (std::uint32_t k = 0; k < n; ++k) of_this_thread += 1;
          vole::blocking([n] { usleep(n % 300); });
        });
      gone.wait();
    });
  }
  expect_clean();
}

}  // namespace
