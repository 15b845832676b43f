// Programs that run out of threads, records, stacks. Alone on one P (VOLE_MAXPROCS=1) where the
// address space is closed: a second P would need a thread.

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

vole::wait_group never;

void wait_for_ever() { never.wait(); }

void limit(int what, rlim_t most) {
  const rlimit both{most, most};
  if (setrlimit(static_cast<__rlimit_resource_t>(what), &both) != 0) std::perror("setrlimit");
}

// Nothing more can be mapped.
void close_address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  limit(RLIMIT_AS, pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

void keep_threads(int n) {
  for (int i = 0; i < n; ++i)
    vole::go([] {
      vole::lock_os_thread();
      wait_for_ever();
    });
}

// [2]
int thread_limit() {
  never.add(1);
  return vole::run([] {
    vole::set_max_threads(6);
    keep_threads(8);
    wait_for_ever();
    return kAlive;
  });
}

int thread_limit_of_one() {
  never.add(1);
  vole::set_max_threads(1);
  return vole::run([] {
    keep_threads(1);
    wait_for_ever();
    return kAlive;
  });
}

// As many again and again as there may be at once. Twice four are enough, but for those that are on
// their way to sleep and are not let run.
int threads_within_the_limit() {
  vole::set_max_threads(50);
  return vole::run([] {
    vole::wait_group done;
    for (int round = 0; round < 50; ++round) {
      for (int i = 0; i < 4; ++i)
        done.go([] {
          vole::lock_os_thread();
          vole::yield();
          vole::unlock_os_thread();
        });
      done.wait();
    }
  });
}

int no_memory_for_a_thread() {
  never.add(1);
  return vole::run([] {
    close_address_space();
    keep_threads(1);
    wait_for_ever();
    return kAlive;
  });
}

// As a user of whom there is no other process, so that the kernel counts our threads alone.
int as_nobody_else(rlim_t threads) {
  const auto own = static_cast<uid_t>(1000000 + getpid());
  limit(RLIMIT_NPROC, threads);
  if (setresuid(own, own, own) != 0) std::perror("setresuid");
  never.add(1);
  return vole::run([] {
    keep_threads(20);
    wait_for_ever();
    return kAlive;
  });
}
int no_first_thread() { return as_nobody_else(1); }
int no_more_threads() { return as_nobody_else(10); }

void small_and_waiting() { vole::go({.stack_size = 16 * 1024}, wait_for_ever); }

// The region of small stacks is there; what lacks is room for records.
int records() {
  never.add(1);
  return vole::run([] {
    small_and_waiting();
    vole::yield();
    close_address_space();
    for (;;) small_and_waiting();
    return kAlive;
  });
}
int records_from_thread() {
  never.add(1);
  small_and_waiting();
  while (vole::stats().stacks_in_use == 0) vole::yield();
  close_address_space();
  for (;;) small_and_waiting();
  return kAlive;
}

int stacks() {
  never.add(1);
  return vole::run([] {
    close_address_space();
    vole::go({.name = "large", .stack_size = 64 << 20}, wait_for_ever);
    wait_for_ever();
    return kAlive;
  });
}

// Many of the default size. Room for some.
int many_stacks() {
  never.add(1);
  return vole::run([] {
    close_address_space();
    for (;;) {
      vole::go(wait_for_ever);
      vole::yield();
    }
    return kAlive;
  });
}

int before_the_start() {
  close_address_space();
  vole::run([] {});
  return kAlive;
}

constexpr scenario kAll[] = {
    {"thread_limit", thread_limit},
    {"thread_limit_of_one", thread_limit_of_one},
    {"threads_within_the_limit", threads_within_the_limit},
    {"no_memory_for_a_thread", no_memory_for_a_thread},
    {"no_first_thread", no_first_thread},
    {"no_more_threads", no_more_threads},
    {"records", records},
    {"records_from_thread", records_from_thread},
    {"stacks", stacks},
    {"many_stacks", many_stacks},
    {"before_the_start", before_the_start},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
