// Safe-point functions while everything else goes on [11]: who includes it says in which mode.
//
// Law    each request is answered once for every P, whatever becomes of the threads meanwhile.
#pragma once

#include <unistd.h>
#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "sched/hold/safe_point.h"
#include "sched/state.h"
#include "stress.h"

namespace vole_test {

// Plain words: one thread at a time writes each, and who asked reads them.
struct safe_point_tally {
  std::vector<int> of = std::vector<int>(vole::rt::kMaxProcs, 0);
  std::uint32_t procs = 0;

  bool ask() {
    return vole::rt::safe_point::on_every_p(
        [](vole::rt::P& p, void* arg) noexcept { ++static_cast<safe_point_tally*>(arg)->of[p.id]; },
        this);
  }
  void expect_once_each() const {
    std::size_t n = 0;
    while (n < of.size() && of[n] != 0) EXPECT_EQ(of[n++], 1);
    EXPECT_GT(n, 0u);
    for (; n < of.size(); ++n) EXPECT_EQ(of[n], 0);
  }
};

inline void ask_once() {
  safe_point_tally t;
  if (t.ask()) t.expect_once_each();
}

inline void disturb(dice& d, std::FILE* nowhere, const vole::chan<int>& c) {
  switch (d.below(9)) {
    case 0: vole::blocking([&] { usleep(d.below(300)); }); break;
    case 1: usleep(d.below(300)); break;  // a call that nobody has marked
    case 2:
      for (volatile std::uint32_t n = d.below(200'000); n > 0;) n = n - 1;
      break;
    case 3: (void)c.try_send(1); break;
    case 4: (void)c.try_recv(); break;
    case 5: {
      vole::lock_os_thread();
      vole::spawn([] { vole::yield(); }).join();
      vole::unlock_os_thread();
      break;
    }
    case 6: vole::sleep_for(std::chrono::microseconds(d.below(300))); break;
    case 7:
      if (d.below(4) == 0) vole::set_max_procs(1 + static_cast<int>(d.below(8)));
      break;
    default:
      if (d.below(4) == 0) vole::dump_goroutines(nowhere);
  }
}

inline void safe_point_party() {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  ASSERT_NE(nowhere, nullptr);
  const time_limit limit(std::chrono::milliseconds(400));
  vole::run([&] {
    const vole::chan<int> c(4);
    vole::wait_group gone;
    std::atomic<long> asked{0};
    for (std::uint64_t i = 0; i < 8; ++i)
      gone.go([&, d = dice(i)]() mutable {
        do disturb(d, nowhere, c);
        while (!limit.over() || asked == 0);
      });
    const auto ask_often = [&] {
      do {
        ask_once();
        ++asked;
      } while (!limit.over());
    };
    for (int i = 0; i < 2; ++i) gone.go(ask_often);
    std::thread plain(ask_often);
    gone.wait();
    plain.join();
  });
  std::fclose(nowhere);
}

// Runtimes end under those who ask, and start again beside a plain thread that does.
inline void safe_points_at_the_end() {
  std::atomic<bool> stop{false};
  std::thread plain([&] {
    while (!stop) ask_once();
  });
  const time_limit limit(std::chrono::milliseconds(400));
  do {
    vole::run([] {
      for (int i = 0; i < 3; ++i)
        vole::go([] {
          for (;;) ask_once();
        });
      for (int i = 0; i < 20; ++i) vole::spawn([] { vole::yield(); }).join();
    });
  } while (!limit.over());
  stop = true;
  plain.join();
}

}  // namespace vole_test
