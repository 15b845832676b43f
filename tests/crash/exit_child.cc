// Programs that end while goroutines are alive.

#include <cstdlib>

#include <atomic>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

vole::wait_group at_exit;  // destroyed by exit()

std::atomic<int> busy{0};

void keep_busy(int n) {
  for (int i = 0; i < n; ++i)
    vole::go([] {
      ++busy;
      for (;;) vole::yield();
    });
  while (busy.load() < n) vole::yield();
}

void park_some(int n) {
  static vole::wait_group* const forever = new vole::wait_group;
  forever->add(1);
  for (int i = 0; i < n; ++i) vole::go([] { forever->wait(); });
  if (vole::goroutine_id() != 0) until_dump_has("wait group");
}

struct last_word {
  ~last_word() { say("destroyed\n"); }
};

int exit_from_goroutine() {
  static const last_word word;
  return vole::run([] {
    keep_busy(4);
    park_some(4);
    std::exit(3);
    return kAlive;
  });
}
int exit_from_another() {
  static const last_word word;
  return vole::run([] {
    vole::go([] {
      keep_busy(2);
      std::exit(3);
    });
    for (;;) vole::yield();
    return kAlive;
  });
}
int quick() {
  return vole::run([] {
    keep_busy(4);
    std::quick_exit(3);
    return kAlive;
  });
}

int implicit_busy() {
  keep_busy(4);
  return 0;
}
int implicit_parked() {
  park_some(100);
  return 0;
}
int implicit_queued() {
  for (int i = 0; i < 1000; ++i) vole::go([] { vole::yield(); });
  return 0;
}
int run_leaves_others() {
  return vole::run([] {
    keep_busy(2);
    park_some(10);
    return 4;
  });
}

int static_at_zero() {
  for (int i = 0; i < 100; ++i) at_exit.go([] { vole::yield(); });
  at_exit.wait();
  return 0;
}
int static_not_zero() {
  at_exit.add(1);
  return 0;
}

// Records and locks have no destructors: the runtime serves handlers of exit(), too.
int used_by_exit_handler() {
  std::atexit([] {
    vole::wait_group done;
    done.go([] { say("in the handler\n"); });
    done.wait();
  });
  return static_at_zero();
}
int run_by_exit_handler() {
  std::atexit([] { vole::run([] { say("in the handler\n"); }); });
  vole::run([] {});
  return 0;
}

// Before main, if the scenario wants it: a constructor cannot see the argument otherwise.
struct early {
  early() {
    if (std::getenv("START_EARLY") == nullptr) return;
    at_exit.go([] { say("before main\n"); });
    at_exit.wait();
  }
} const starts_early;

int after_early_start() {
  return vole::run([] { say("in main\n"); });
}

constexpr scenario kAll[] = {
    {"exit_from_goroutine", exit_from_goroutine},
    {"exit_from_another", exit_from_another},
    {"quick", quick},
    {"implicit_busy", implicit_busy},
    {"implicit_parked", implicit_parked},
    {"implicit_queued", implicit_queued},
    {"run_leaves_others", run_leaves_others},
    {"static_at_zero", static_at_zero},
    {"static_not_zero", static_not_zero},
    {"used_by_exit_handler", used_by_exit_handler},
    {"run_by_exit_handler", run_by_exit_handler},
    {"after_early_start", after_early_start},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
