// Those who make it hard for all others: they never yield, resize, lock their threads, exit in the
// middle, come from plain threads, and look from beside.

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "torture.h"
#include "trace/reader.h"

namespace torture {
namespace {

using namespace std::chrono_literals;

std::int64_t cpu_ns() {
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Up to 15 ms without a call of vole, which is more than a time slice.
void hog(round&, dice& d) {
  const pid_t thread = gettid();
  const std::int64_t until = cpu_ns() + d.below(15'000) * 1000;
  volatile unsigned x = 0;
  while (cpu_ns() < until)
    for (int i = 0; i < 1000; ++i) x = x + 1;
  MUST(gettid() == thread);
  vole::sleep_for(d.up_to_us(5000));
}

void resize(round& r, dice& d) {
  const int n = 1 + static_cast<int>(d.below(static_cast<std::uint32_t>(2 * r.procs)));
  vole::set_max_procs(n);
  vole::sleep_for(d.up_to_us(20'000));
  vole::set_max_procs(r.procs);
  vole::sleep_for(d.up_to_us(20'000));
}

// A locked goroutine has its thread for itself, through every kind of wait; if it ends, that does, too.
void locked(round&, dice& d) {
  const bool unlocks = !d.once_in(4);
  const vole::chan<int> c;
  vole::wait_group gone;
  gone.go([&, mine = d.fork()]() mutable {
    vole::lock_os_thread();
    const pid_t here = gettid();
    for (int i = 0; i < 10; ++i) {
      switch (mine.below(4)) {
        case 0: vole::yield(); break;
        case 1: vole::sleep_for(mine.up_to_us(300)); break;
        case 2: vole::blocking([&] { usleep(100); }); break;
        default: c.send(i);
      }
      MUST(gettid() == here);
    }
    if (unlocks) vole::unlock_os_thread();
    c.close();
  });
  for ([[maybe_unused]] const int v : c) {
  }
  gone.wait();
}

// Destructors run as the stack is unwound, and who joins is told.
void leave(round&, dice& d) {
  std::atomic<int> destroyed{0};
  struct noted {
    std::atomic<int>& n;
    ~noted() { ++n; }
  };
  auto h = vole::spawn([&, mine = d.fork()]() mutable {
    const noted a{destroyed};
    if (mine.once_in(2)) vole::yield();
    try {
      const noted b{destroyed};
      vole::exit_goroutine();
    } catch (...) {
      throw;
    }
  });
  std::error_code told;
  try {
    h.join();
  } catch (const std::system_error& e) {
    told = e.code();
  }
  MUST(told == vole::errc::goroutine_exited && destroyed == 2);
}

// Plain threads are as good as goroutines.
void threads(round&, dice& d) {
  const vole::chan<int> to(d.below(3)), back;
  vole::mutex m;
  int both = 0;  // under m
  std::vector<std::thread> plain;
  for (int i = 0; i < 2; ++i)
    plain.emplace_back([&] {
      for (const int v : to) {
        {
          const std::lock_guard hold(m);
          ++both;
        }
        back.send(vole::spawn([v] { return 2 * v; }).join());
      }
    });
  for (int i = 0; i < 20; ++i) {
    to.send(i);
    {
      const std::lock_guard hold(m);
      ++both;
    }
    MUST(back.recv() == 2 * i);
  }
  to.close();
  vole::blocking([&] {
    for (std::thread& t : plain) t.join();
  });
  MUST(both == 40);
}

void look(round&, dice& d) {
  const vole::runtime_stats s = vole::stats();
  MUST(s.procs >= 1 && vole::num_goroutines() >= 1);
  switch (d.below(3)) {
    case 0: MUST(vole::metrics().find("vole_") != std::string::npos); break;
    case 1: MUST(!vole::goroutines().empty()); break;
    default:
      if (std::FILE* const nowhere = std::fopen("/dev/null", "w")) {
        vole::dump_goroutines(nowhere);
        std::fclose(nowhere);
      }
  }
  vole::sleep_for(10ms);
}

// A trace of what happens meanwhile, each generation of which has an order.
void trace(round&, dice& d) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("vole-torture-" + std::to_string(getpid()));
  std::error_code error;
  if (d.once_in(2)) {
    vole::trace::start(path, error);
    MUST(!error);
    vole::sleep_for(d.up_to_us(20'000));
    vole::trace::stop(error);
  } else {
    vole::trace::record({.bytes = 1u << 20}, error);
    MUST(!error);
    vole::sleep_for(d.up_to_us(20'000));
    vole::trace::snapshot(path, error);
    MUST(!error);
    vole::trace::stop_recording(error);
  }
  MUST(!error);
  vole::blocking([&] {
    for (const std::string& sentence : vole_trace::check(path))
      if (sentence.find("events were lost") == std::string::npos)
        fail(sentence, __FILE__, __LINE__);
    std::filesystem::remove(path);
  });
  vole::sleep_for(20ms);
}

constexpr player kBreakers[] = {
    {"hog", hog},         {"resize", resize}, {"locked", locked}, {"leave", leave},
    {"threads", threads}, {"look", look},     {"trace", trace},
};

}  // namespace

std::span<const player> breakers() { return kBreakers; }

}  // namespace torture
