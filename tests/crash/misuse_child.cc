// Broken invariants: what a wait_group and the runtime do not forgive.
// Sees src/ for one scenario: a signal that interrupts the runtime cannot be timed from outside.

#include <csignal>

#include <atomic>
#include <cstdint>
#include <thread>

#include "scenario.h"
#include "sched/life/enter.h"

namespace {

using namespace vole::crash_test;

vole::wait_group never;  // what the bystander waits for

// Runs fn on the main goroutine while another one is known to wait.
template <class F>
int beside_a_waiter(F fn) {
  never.add(1);
  return vole::run([&] {
    vole::go({.name = "bystander"}, [] { never.wait(); });
    until_dump_has("(bystander) [waiting, wait group");
    fn();
    return kAlive;
  });
}

int negative() {
  return beside_a_waiter([] {
    vole::wait_group g;
    g.add(1);
    g.done();
    g.done();
  });
}
int negative_on_thread() {
  vole::wait_group g;
  g.done();
  return kAlive;
}
int too_many() {
  return beside_a_waiter([] {
    vole::wait_group g;
    g.add(INT32_MAX);
    g.add(1);
  });
}
int destroyed() {
  return beside_a_waiter([] {
    vole::wait_group g;
    g.add(2);
  });
}
int destroyed_on_thread() {
  {
    vole::wait_group g;
    g.add(1);
  }
  return kAlive;
}

// add() of the next round while done() of the last one has counted to zero but has not released
// the waiters yet: we hold the group's own lock (bit 0 of its word), as a slow releaser would.
int reused() {
  return beside_a_waiter([] {
    static vole::wait_group g;
    auto& word = reinterpret_cast<std::atomic<std::uint64_t>&>(g);
    g.add(1);
    vole::go({.name = "early"}, [] { g.wait(); });
    until_dump_has("(early) [waiting, wait group");
    word.fetch_or(1);
    std::thread([] { g.done(); }).detach();
    while ((word.load() >> 32) != 0) std::this_thread::yield();
    g.add(1);
  });
}

int signal_handler() {
  return beside_a_waiter([] {
    std::signal(SIGUSR1, [](int) { vole::yield(); });
    vole::rt::enter();
    raise(SIGUSR1);
  });
}

constexpr scenario kAll[] = {
    {"negative", negative},     {"negative_on_thread", negative_on_thread},
    {"too_many", too_many},     {"destroyed", destroyed},
    {"reused", reused},         {"destroyed_on_thread", destroyed_on_thread},
    {"signal", signal_handler},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
