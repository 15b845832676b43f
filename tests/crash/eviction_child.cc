// Programs that end, fork, change their ids or unload libraries while Ps are taken away.

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "scenario.h"

namespace {

using namespace vole::crash_test;
using namespace std::chrono_literals;

std::atomic<bool> stop{false};
std::atomic<long> turns{0};

void hog() {
  while (!stop) turns.fetch_add(1, std::memory_order_relaxed);
}

void hog_for(std::chrono::milliseconds d) {
  const auto until = std::chrono::steady_clock::now() + d;
  while (std::chrono::steady_clock::now() < until) {
  }
}

// The same in CPU time of the thread: a busy machine does not shorten it.
void burn(std::chrono::milliseconds d) {
  const auto used = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  const auto until = used() + d;
  while (used() < until) {
  }
}

// Loops that never enter, and goroutines that do nothing else.
void make_traffic(vole::wait_group& gone) {
  for (int i = 0; i < 3; ++i) gone.go(hog);
  for (int i = 0; i < 3; ++i)
    gone.go([] {
      while (!stop) vole::yield();
    });
}

template <class F>
int amid_traffic(F body) {
  return vole::run([&] {
    vole::wait_group gone;
    make_traffic(gone);
    vole::sleep_for(2ms);
    const int status = body();
    stop = true;
    gone.wait();
    return status;
  });
}

int exits() {
  return amid_traffic([]() -> int { std::exit(7); });
}
int quick_exits() {
  return amid_traffic([]() -> int { std::_Exit(7); });
}
int main_returns() {
  return vole::run([] {
    for (int i = 0; i < 3; ++i) vole::go(hog);
    vole::sleep_for(2ms);
    return 7;
  });
}
// Twice: the second runtime starts beside the first one's zombies.
int main_returns_twice() {
  main_returns();
  return main_returns();
}

int status_of_child(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int forks() {
  return amid_traffic([] {
    for (int i = 0; i < 20; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
        _exit(9);
      }
      if (status_of_child(pid) != 5) return 1;
    }
    return 7;
  });
}

// The child leaves blocking() before it becomes another program.
int forks_in_blocking() {
  return amid_traffic([] {
    for (int i = 0; i < 20; ++i) {
      const pid_t pid = vole::blocking([] {
        usleep(300);
        return fork();
      });
      if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
        _exit(9);
      }
      if (status_of_child(pid) != 5) return 1;
    }
    return 7;
  });
}

// glibc signals every thread, and waits for each.
int sets_gid() {
  return amid_traffic([] {
    for (int i = 0; i < 10; ++i)
      if (setgid(getgid()) != 0) return 1;
    return 7;
  });
}

int unloads() {
  return amid_traffic([] {
    for (int i = 0; i < 200; ++i) {
      void* const lib = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
      if (lib != nullptr) dlclose(lib);
    }
    return 7;
  });
}

// VOLE_DEBUG=evict=0: nobody loses a P, so the other one runs after the loop has ended.
int evicts_nobody() {
  vole::set_max_procs(1);
  return vole::run([] {
    std::atomic<bool> over{false};
    bool after = false;
    vole::wait_group gone;
    gone.go([&] { after = over; });
    hog_for(100ms);
    over = true;
    gone.wait();
    return after && vole::stats().evictions == 0 ? 7 : 1;
  });
}

// ── no thread to be had ──

// Standard error by way of a file: a loop can see whether the runtime has complained.
class complaints {
 public:
  complaints() : aside_(dup(STDERR_FILENO)), file_(memfd_create("stderr", 0)) {
    dup2(file_, STDERR_FILENO);
  }
  ~complaints() {
    dup2(aside_, STDERR_FILENO);
    off_t from = 0;
    while (sendfile(STDERR_FILENO, file_, &from, 4096) > 0) {
    }
  }
  complaints(const complaints&) = delete;
  complaints& operator=(const complaints&) = delete;

  void hog_until_one() const {
    for (struct stat s{}; s.st_size == 0; fstat(file_, &s)) burn(1ms);
  }

 private:
  int aside_, file_;
};

// Loops for all threads that there may be, and one more for whom there is none: it waits until
// one of the others comes in.
int hogs_at_the_limit() {
  vole::set_max_procs(2);
  vole::set_max_threads(6);
  const complaints heard;
  return vole::run([&] {
    vole::wait_group gone;
    for (int i = 0; i < 12; ++i) gone.go([&] { heard.hog_until_one(); });
    gone.wait();
    return vole::stats().threads <= 6 ? 7 : 1;
  });
}

// Goroutines that hold a thread each, beside loops that have taken all the others.
// Ten: the three, two for the Ps, and five that may be on their way to sleep, and not be let run,
// when the next is wanted.
int locked_at_the_limit() {
  vole::set_max_procs(2);
  vole::set_max_threads(10);
  return vole::run([] {
    vole::wait_group gone;
    for (int i = 0; i < 8; ++i) gone.go([i] { hog_for(60ms + 20ms * i); });
    for (int i = 0; i < 3; ++i)
      gone.go([] {
        vole::lock_os_thread();
        for (int k = 0; k < 5; ++k) vole::sleep_for(1ms);
        vole::unlock_os_thread();
      });
    gone.wait();
    return 7;
  });
}

// As a user of whom there is no other process: the kernel refuses the ninth thread.
int hogs_without_threads() {
  const auto own = static_cast<uid_t>(1000000 + getpid());
  const rlimit few{8, 8};
  if (setrlimit(RLIMIT_NPROC, &few) != 0 || setresuid(own, own, own) != 0) return 1;
  vole::set_max_procs(2);
  const complaints heard;
  return vole::run([&] {
    vole::wait_group gone;
    for (int i = 0; i < 16; ++i) gone.go([&] { heard.hog_until_one(); });
    gone.wait();
    return 7;
  });
}

int endless_loop() {
  return vole::run([] {
    vole::go([] {
      for (;;) asm volatile("");
    });
    vole::yield();
    say("i got scheduled\n");
    return 0;
  });
}

constexpr scenario kAll[] = {
    {"endless_loop", endless_loop},
    {"exits", exits},
    {"quick_exits", quick_exits},
    {"main_returns", main_returns},
    {"main_returns_twice", main_returns_twice},
    {"forks", forks},
    {"forks_in_blocking", forks_in_blocking},
    {"sets_gid", sets_gid},
    {"unloads", unloads},
    {"evicts_nobody", evicts_nobody},
    {"hogs_at_the_limit", hogs_at_the_limit},
    {"locked_at_the_limit", locked_at_the_limit},
    {"hogs_without_threads", hogs_without_threads},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
