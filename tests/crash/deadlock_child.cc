// Everybody waits: with nobody left to come [34], and with somebody who might.

#include <chrono>
#include <thread>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

int all_asleep() {
  return vole::run([] {
    vole::go({.name = "sender"}, [] { vole::chan<int>().send(1); });
    vole::chan<int>().recv();
    return kAlive;
  });
}
int main_exited() {
  return vole::run([] { vole::exit_goroutine(); });
}
// The last one to hope for is a plain thread.
int thread_may_send() {
  return vole::run([] {
    const vole::chan<int> c;
    std::thread([c] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      c.send(1);
    }).detach();
    return *c.recv() - 1;
  });
}
// It ends long after everybody has gone to sleep, and has not sent.
int thread_ends() {
  return vole::run([] {
    std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(3)); }).detach();
    vole::chan<int>().recv();
  });
}

int timer_pends() {
  return vole::run([] {
    const vole::chan<int> c;
    vole::go([c] {
      vole::sleep_for(std::chrono::milliseconds(100));
      c.send(1);
    });
    return *c.recv() - 1;
  });
}

// Somebody has waited in the poller for it, and waits there still.
int timers_are_stopped() {
  return vole::run([] {
    const vole::chan<int> c;
    vole::timer stopped(std::chrono::hours(1));
    (void)vole::after(std::chrono::hours(1));
    { vole::ticker destroyed(std::chrono::milliseconds(1)); }
    vole::sleep_for(std::chrono::milliseconds(2));
    stopped.stop();
    return *c.recv();
  });
}
int ticker_ticks() {
  return vole::run([] {
    vole::ticker t(std::chrono::milliseconds(30));
    return t.channel().recv() && t.channel().recv() ? 0 : 1;
  });
}

constexpr scenario kAll[] = {
    {"all_asleep", all_asleep},
    {"main_exited", main_exited},
    {"thread_may_send", thread_may_send},
    {"thread_ends", thread_ends},
    {"timer_pends", timer_pends},
    {"timers_are_stopped", timers_are_stopped},
    {"ticker_ticks", ticker_ticks},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
