// Programs in strict mode: who runs, how many at once, and how they end.

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <vector>

#include "strict.h"

namespace {

using namespace vole::crash_test;
using namespace std::chrono_literals;

// How many of the runtime's threads run or wait for a processor, by the kernel's word.
int running_threads() {
  int n = 0;
  DIR* const tasks = opendir("/proc/self/task");
  while (const dirent* const e = readdir(tasks)) {
    const std::string path = std::string("/proc/self/task/") + e->d_name + "/stat";
    std::FILE* const f = std::fopen(path.c_str(), "r");
    if (f == nullptr) continue;
    char text[128] = {};
    if (std::fgets(text, sizeof text, f) != nullptr)
      n += std::strstr(text, "(vole-m) R") != nullptr ? 1 : 0;
    std::fclose(f);
  }
  closedir(tasks);
  return n;
}

// A plain thread looks on. A release, or threads on their way to sleep, may spoil some of its samples.
struct sampler {
  std::atomic<bool> stop{false};
  std::vector<int> seen;
  std::thread thread{[this] {
    prctl(PR_SET_NAME, "sampler");  // it would be called after the thread that made it
    while (!stop || seen.size() < 100) {
      seen.push_back(running_threads());
      std::this_thread::sleep_for(1ms);
    }
  }};
  int median() {
    stop = true;
    thread.join();
    const auto middle = seen.begin() + static_cast<long>(seen.size() / 2);
    std::nth_element(seen.begin(), middle, seen.end());
    return *middle;
  }
};

double seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A stretch of time in which all get a turn and a hundred looks are taken.
struct stretch {
  int at_once;   // run, most of the time
  double share;  // of the processors that the Ps could use: how much of it the program had
};

stretch while_all_run(hogs& them) {
  const int cpus = std::min(vole::max_procs(), static_cast<int>(std::thread::hardware_concurrency()));
  const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  sampler s;
  int naps = them.until_all_ran();
  while (naps++ < 5) vole::sleep_for(1ms);
  const int at_once = s.median();
  return {at_once, (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (seconds(CLOCK_MONOTONIC) - wall) / cpus};
}

// max_procs(), and one on its way to sleep: in three stretches. Where others have the processors,
// sysmon takes the P of a thread that is hardly let run, which then goes on without until it has
// run for a slice: that may be most of them, and for long. So a stretch with more tells only if the
// program had its share; eight of those break the promise. On a machine that stays busy nothing is
// said.
template <int N>
int all_progress() {
  return vole::run([] {
    constexpr int kEnough = 3, kTooMany = 8;
    constexpr double kShare = 0.85, kPatience = 10;
    hogs them(N);
    them.until_all_ran();
    int kept = 0, broken = 0;
    const double until = seconds(CLOCK_MONOTONIC) + kPatience;
    while (kept < kEnough && broken < kTooMany && seconds(CLOCK_MONOTONIC) < until) {
      const stretch s = while_all_run(them);
      std::fprintf(stderr, "at once: %d of %d, share %.2f\n", s.at_once, N, s.share);
      if (s.at_once <= vole::max_procs() + 1)
        ++kept;
      else if (s.share >= kShare)
        ++broken;
    }
    VOLE_MUST(broken < kTooMany);
    VOLE_MUST(vole::stats().preemptions > 0);
    return failed;
  });
}

int all_begin() {
  return vole::run([] {
    hogs them(32);
    them.until_all_ran();
    them.until_all_ran();
    return 0;
  });
}

// Nobody but the hogs runs on a P, and they never call vole: who is counted as preempted was stopped by
// the signal. (One may be main, as it leaves stats().)
int stopped_by_signal() {
  return vole::run([] {
    hogs them(4);
    const auto before = vole::stats().preemptions;
    std::thread([before] {
      while (vole::stats().preemptions < before + 2) std::this_thread::sleep_for(1ms);
    }).join();
    return 0;
  });
}

// More than are ever captured at once: the rest is evicted.
int past_the_cap() {
  return vole::run([] {
    hogs them(300);
    them.until_all_ran();
    return failed;
  });
}

int dump_names_it() {
  return vole::run([] {
    hogs them(3);
    until_dump_has("[preempted");
    return 0;
  });
}

// The lock that a goroutine has on its thread is not touched.
int locked() {
  return vole::run([] {
    hogs beside(3);
    vole::wait_group done;
    for (int i = 0; i < 3; ++i)
      done.go([] {
        vole::lock_os_thread();
        const pthread_t me = pthread_self();
        for (int turn = 0; turn < 5; ++turn) {
          const auto until = vole::stats().preemptions + 3;
          while (vole::stats().preemptions < until) VOLE_MUST(pthread_self() == me);
          vole::yield();
          VOLE_MUST(pthread_self() == me);
        }
        vole::unlock_os_thread();
      });
    done.wait();
    return failed;
  });
}

// The world stops for a dump and for another number of Ps while threads are captured.
int stopped_world() {
  return vole::run([] {
    hogs them(6);
    for (int i = 0; i < 20; ++i) {
      vole::set_max_procs(1 + i % 3);
      until_dump_has("[");
      vole::sleep_for(1ms);
    }
    vole::set_max_procs(2);
    them.until_all_ran();
    return 0;
  });
}

// ── the end ──

void captured_hogs() {
  static hogs* const them = new hogs(6);
  until_preemptions(6);
  them->until_all_ran();
}

int run_returns() {
  static hogs* left_behind[3];  // their threads become zombies
  for (hogs*& them : left_behind) {
    vole::run([&them] {
      them = new hogs(4);
      until_preemptions(4);
    });
  }
  return 0;
}

int exit_on_goroutine() {
  return vole::run([] {
    captured_hogs();
    std::exit(7);
    return 1;
  });
}

int exit_on_thread() {
  return vole::run([] {
    captured_hogs();
    std::thread([] { std::exit(7); }).join();
    return 1;
  });
}

void fork_exec() {
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  VOLE_MUST(status == 0);
}

template <void (*Fn)()>
int beside_captured() {
  return vole::run([] {
    hogs them(6);
    until_preemptions(6);
    for (int i = 0; i < 10; ++i) {
      Fn();
      std::thread(Fn).join();
      vole::yield();
    }
    them.until_all_ran();
    return failed;
  });
}

// Let go, they end, and their threads come upon their own stand-ins in the queues.
int let_go_and_end() {
  return vole::run([] {
    for (int i = 0; i < 60; ++i) {
      hogs them(8);
      until_preemptions(8);
      const pid_t pid = fork();
      if (pid == 0) _exit(0);
      waitpid(pid, nullptr, 0);
    }
    return 0;
  });
}

// libc interrupts every thread and waits for each: a captured thread must answer from the handler.
void set_group() { VOLE_MUST(setgid(getgid()) == 0); }

void load_and_unload() {
  void* const h = dlopen("libanl.so.1", RTLD_NOW);
  if (h == nullptr) dlerror();
  if (h != nullptr) VOLE_MUST(dlclose(h) == 0);
}

constexpr scenario kAll[] = {
    {"hogs_2", all_progress<2>},
    {"hogs_16", all_progress<16>},
    {"hogs_64", all_progress<64>},
    {"signal", stopped_by_signal},
    {"begin", all_begin},
    {"cap", past_the_cap},
    {"dump", dump_names_it},
    {"locked", locked},
    {"world", stopped_world},
    {"run_returns", run_returns},
    {"exit_on_goroutine", exit_on_goroutine},
    {"exit_on_thread", exit_on_thread},
    {"fork_exec", beside_captured<fork_exec>},
    {"let_go_and_end", let_go_and_end},
    {"setgid", beside_captured<set_group>},
    {"dlclose", beside_captured<load_and_unload>},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
