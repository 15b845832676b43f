// Goroutines in every state, for those who look from outside.
//
// Prints its own dump, then "ready" in a line, and waits for a line: then it ends with status 7, or
// by abort() if the line says so. All stays as it was in the dump meanwhile: its main thread is a
// plain one, in the kernel, and everybody else waits or spins.
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <vole/vole.h>

namespace field {

std::atomic<int> at_work{0};
std::atomic<bool> over{false};

[[gnu::noinline]] int reads_jobs(const vole::chan<int>& jobs, int depth) {
  const int got = depth > 0 ? reads_jobs(jobs, depth - 1) : jobs.recv().value_or(-1);
  asm volatile("" ::: "memory");  // no tail call
  return got;
}

[[gnu::noinline]] void takes_lock(vole::mutex& m) {
  m.lock();
  m.unlock();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void waits_for_all(vole::wait_group& all) {
  all.wait();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void sleeps_long() {
  vole::sleep_for(std::chrono::hours(1));
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void blocks_in_the_kernel() {
  vole::blocking([] {
    ++at_work;
    for (;;) ::pause();
  });
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void spins() {
  ++at_work;
  while (!over.load(std::memory_order_relaxed)) {
  }
}

bool all_parked() {
  std::size_t waiting = 0;
  for (const vole::goroutine_info& g : vole::goroutines())  // not on its way, for want of a P
    waiting += g.status == "waiting" && g.wait_reason != "processor";
  return at_work == 2 && waiting == 8;
}

void start() {
  static const vole::chan<int> jobs;
  static vole::mutex held;
  static vole::wait_group never;
  never.add(1);
  vole::spawn([] {}).join();  // goroutine 1 has ended
  held.lock();  // not in a goroutine that ends: another with its stack would seem to hold it
  for (int depth : {0, 0, 3}) vole::go([depth] { reads_jobs(jobs, depth); });
  vole::go({.name = "locksmith"}, [] { takes_lock(held); });
  vole::go({.name = "waiter"}, [] { waits_for_all(never); });
  vole::go({.name = "sleeper"}, [] { sleeps_long(); });
  vole::go([] { vole::select(vole::on_recv(jobs, [](auto) {})); });
  vole::go({.name = "caller"}, [] { blocks_in_the_kernel(); });
  vole::go({.name = "spinner"}, [] { spins(); });
  vole::go({.name = "starter"}, [] { waits_for_all(never); });
}

}  // namespace field

int main() {
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  vole::set_max_procs(2);
  field::start();
  while (!field::all_parked()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  vole::dump_goroutines(stdout);
  std::puts("ready");
  std::fflush(stdout);
  char line[64] = "";
  if (std::fgets(line, sizeof line, stdin) != nullptr && std::string(line) == "abort\n")
    std::abort();
  std::_Exit(7);
}
