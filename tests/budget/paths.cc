// The hot paths, each walked n and 2n times on one P, under callgrind.
//
// Who    tests/budget/check.py runs this program and reads the dumps.
// Law    a path does the same work at every turn. What it needs besides costs the same for n
//        and for 2n, and falls out of the difference.
// Note   a dump holds the instructions of the thread that asks for it, and with one P and
//        nobody to take it away (evict=0) that thread runs everything.
//        Each pair is measured kRounds times: stacks, records and malloc's lists are warm from
//        the second on, and what sysmon asks for when a slice is over costs in one round only.
// Use    paths: walks them. paths --toolchain: says what compiled it, as budgets.txt does.
// Exit   0; 1: a wrong result.
#include <valgrind/callgrind.h>
#include <vole/vole.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>

namespace {

constexpr int kRounds = 3;

int wrong_results = 0;

void expect(bool right) {
  if (!right) ++wrong_results;
}

// `goroutines` of them take n turns in all.
template <class Turn>
void share(int n, int goroutines, Turn turn) {
  vole::wait_group wg;
  wg.add(goroutines);
  for (int k = 0; k < goroutines; ++k)
    vole::go([&wg, &turn, turns = n / goroutines] {
      for (int i = 0; i < turns; ++i) turn();
      wg.done();
    });
  wg.wait();
}

void yield_2(int n) {
  share(n, 2, [] { vole::yield(); });
}
void yield_1000(int n) {
  share(n, 1000, [] { vole::yield(); });
}
void yield_alone(int n) {
  for (int i = 0; i < n; ++i) vole::yield();
}
void checkpoint(int n) {
  for (int i = 0; i < n; ++i) vole::checkpoint();
}

// Born all at once: past 256 they spill into the global queue.
void spawn_many(int n) {
  vole::wait_group wg;
  wg.add(n);
  for (int i = 0; i < n; ++i) vole::go([&wg] { wg.done(); });
  wg.wait();
}

void spawn_one(int n) {
  const vole::chan<> c;
  for (int i = 0; i < n; ++i) {
    vole::go([c] { c.send(); });
    c.recv();
  }
}

void spawn_join(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += vole::spawn([] { return 1; }).join();
  expect(sum == n);
}

// A round trip: two sends, two receives, two switches.
void chan_pingpong(int n) {
  const vole::chan<int> there, back;
  vole::go([there, back] {
    for (const int v : there) back.send(v);
    back.close();
  });
  for (int i = 0; i < n; ++i) {
    there.send(i);
    expect(back.recv() == i);
  }
  there.close();
  expect(!back.recv());
}

// Too seldom the same one to become anybody's own.
void chan_shared(int n) {
  std::array<vole::chan<int>, 64> all;
  for (vole::chan<int>& c : all) c = vole::chan<int>(1);
  for (int i = 0; i < n; ++i) {
    const vole::chan<int>& c = all[static_cast<std::size_t>(i) % all.size()];
    c.send(i);
    expect(c.recv() == i);
  }
}

void chan_buffered(int n) {
  const vole::chan<int> c(1);
  for (int i = 0; i < n; ++i) {
    c.send(i);
    expect(c.recv() == i);
  }
}

void chan_spsc_128(int n) {
  const vole::chan<int> c(128);
  vole::go([c, n] {
    for (int i = 0; i < n; ++i) c.send(i);
    c.close();
  });
  int got = 0;
  for (const int v : c) expect(v == got++);
  expect(got == n);
}

void chan_try_recv_empty(int n) {
  const vole::chan<int> c(1);
  for (int i = 0; i < n; ++i) expect(c.try_recv().status == vole::chan_status::would_block);
}

// With the send that makes the taken case ready again.
void select_4_ready(int n) {
  const std::array<vole::chan<int>, 4> c{vole::chan<int>(1), vole::chan<int>(1), vole::chan<int>(1),
                                         vole::chan<int>(1)};
  for (const vole::chan<int>& each : c) each.send(0);
  for (int i = 0; i < n; ++i)
    c[vole::select(vole::on_recv(c[0]), vole::on_recv(c[1]), vole::on_recv(c[2]),
                   vole::on_recv(c[3]))]
        .send(i);
}

// chan_pingpong with a select for one of the two receives.
void select_parks(int n) {
  const vole::chan<int> there, back, never;
  vole::go([there, back] {
    for (const int v : there) back.send(v);
    back.close();
  });
  std::optional<int> v;
  for (int i = 0; i < n; ++i) {
    there.send(i);
    expect(vole::select(vole::on_recv(never), vole::on_recv(back, v)) == 1 && v == i);
  }
  there.close();
  expect(!back.recv());
}

void mutex_alone(int n) {
  vole::mutex m;
  for (int i = 0; i < n; ++i) {
    m.lock();
    m.unlock();
  }
}

// Too seldom the same one to become anybody's own.
void mutex_shared(int n) {
  constexpr int kMutexes = 64;
  std::array<vole::mutex, kMutexes> all;
  for (int i = 0; i < n; ++i) {
    all[static_cast<std::size_t>(i) % kMutexes].lock();
    all[static_cast<std::size_t>(i) % kMutexes].unlock();
  }
}

// Nobody finds it locked: a slice holds many turns.
void mutex_64(int n) {
  vole::mutex m;
  int sum = 0;
  share(n, 64, [&] {
    const std::lock_guard hold(m);
    ++sum;
  });
  expect(sum == n);
}

// Each finds it locked, waits once and gets it: the other yields while it holds it, and again
// before it comes back. Without the latter it would come back first until the waiter starves, and
// that is a matter of time.
void mutex_waits(int n) {
  vole::mutex m;
  share(n, 2, [&] {
    m.lock();
    vole::yield();
    m.unlock();
    vole::yield();
  });
}

void wait_group_done(int n) {
  vole::wait_group wg;
  wg.add(n);
  for (int i = 0; i < n; ++i) wg.done();
  wg.wait();
}

void timer_restart(int n) {
  vole::timer t(std::chrono::hours(1));
  for (int i = 0; i < n; ++i) {
    expect(t.stop());
    expect(!t.reset(std::chrono::hours(1)));
  }
}

void blocking_empty(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) vole::blocking([&sum] { ++sum; });
  expect(sum == n);
}

struct path {
  const char* name;
  void (*walk)(int n);
  int n;
};

// So many turns that a channel's lock has become the P's own before they are over: what it cost until
// then falls out, too.
constexpr int kMany = 128 * 40;

constexpr path kPaths[] = {
    {"yield_2", yield_2, 2000},
    {"yield_1000", yield_1000, 10'000},
    {"yield_alone", yield_alone, 2000},
    {"checkpoint", checkpoint, 2000},
    {"spawn_many", spawn_many, 2000},
    {"spawn_one", spawn_one, kMany},
    {"spawn_join", spawn_join, 2000},
    {"chan_pingpong", chan_pingpong, kMany},
    {"chan_shared", chan_shared, 2000},
    {"chan_buffered", chan_buffered, kMany},
    {"chan_spsc_128", chan_spsc_128, kMany},
    {"chan_try_recv_empty", chan_try_recv_empty, kMany},
    {"select_4_ready", select_4_ready, 2000},
    {"select_parks", select_parks, 2000},
    {"mutex_alone", mutex_alone, 2 * kMany},
    {"mutex_64", mutex_64, 2 * kMany},
    {"mutex_shared", mutex_shared, 2000},
    {"mutex_waits", mutex_waits, 2000},
    {"wait_group_done", wait_group_done, 2000},
    {"timer_restart", timer_restart, 2000},
    {"blocking_empty", blocking_empty, 2000},
};

void measure(const path& p, int n) {
  char name[64];
  std::snprintf(name, std::size(name), "%s %d", p.name, n);
  CALLGRIND_ZERO_STATS;
  p.walk(n);
  CALLGRIND_DUMP_STATS_AT(name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view("--toolchain")) return std::puts(VOLE_TOOLCHAIN) < 0;
  return vole::run([] {
    expect(vole::max_procs() == 1);
    for (const path& p : kPaths)
      for (int round = 0; round < kRounds; ++round) {
        measure(p, p.n);
        measure(p, 2 * p.n);
      }
    if (wrong_results != 0) std::fprintf(stderr, "paths: %d wrong results\n", wrong_results);
    return wrong_results == 0 ? 0 : 1;
  });
}
