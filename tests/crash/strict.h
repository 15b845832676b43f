// What the programs for strict mode share: goroutines that run on and never call vole.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <thread>

#include "scenario.h"

namespace vole::crash_test {

// Each on a goroutine of its own until the end of the object. The last one must be told by a
// goroutine.
class hogs {
 public:
  explicit hogs(int n) {
    for (int i = 0; i < n; ++i) {
      std::atomic<unsigned long>& mine = turns_.emplace_back(0);
      done_.go([this, &mine] {
        while (!stop_.load(std::memory_order_relaxed)) mine.fetch_add(1, std::memory_order_relaxed);
      });
    }
  }
  ~hogs() {
    stop_ = true;
    done_.wait();
  }
  hogs(const hogs&) = delete;
  hogs& operator=(const hogs&) = delete;

  // Waits until each has run since the call, beside other goroutines. Returns how often it slept.
  int until_all_ran() {
    std::deque<unsigned long> before;
    for (const auto& t : turns_) before.push_back(t);
    int naps = 0;
    for (std::size_t i = 0; i < turns_.size(); ++i)
      for (; turns_[i] == before[i]; ++naps) sleep_for(std::chrono::milliseconds(1));
    return naps;
  }

 private:
  std::atomic<bool> stop_{false};
  std::deque<std::atomic<unsigned long>> turns_;
  wait_group done_;
};

// Until so many goroutines have been stopped, one of them at least by the signal. (Of a thread that
// is hardly let run sysmon takes the P before its signal comes.)
inline void until_preemptions(std::uint64_t n) {
  const runtime_stats before = stats();
  for (;; sleep_for(std::chrono::milliseconds(1))) {
    const runtime_stats now = stats();
    const std::uint64_t stopped = now.preemptions - before.preemptions;
    if (stopped != 0 && stopped + now.evictions - before.evictions >= n) return;
  }
}

// A program fails by saying why.
inline int failed = 0;
#define VOLE_MUST(what)                                                       \
  do {                                                                        \
    if (!(what)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      vole::crash_test::failed = 1;                                           \
    }                                                                         \
  } while (false)

inline thread_local std::uint64_t here = 0;  // the thread's own word

// N goroutines call fn again and again until so many were stopped; then all return.
template <class F>
int hammer(int n, std::uint64_t stops, F fn) {
  return vole::run([&] {
    std::atomic<bool> stop{false};
    vole::wait_group done;
    for (int i = 0; i < n; ++i)
      done.go([&stop, &fn, i] {
        const long thread = syscall(SYS_gettid);
        here = static_cast<std::uint64_t>(thread);
        while (!stop) {
          fn(i);
          VOLE_MUST(syscall(SYS_gettid) == thread);
          VOLE_MUST(here == static_cast<std::uint64_t>(thread));
        }
      });
    until_preemptions(stops);
    stop = true;
    done.wait();
    return failed;
  });
}

inline void work(int rounds) {
  static std::atomic<std::uint64_t> sink{0};
  for (int i = 0; i < rounds; ++i) sink.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace vole::crash_test
