// What a timer costs beside 10^3 to 10^6 others: added, stopped, fired, and reset by a user.
//
// Note   an iteration is a batch, timed by hand, so that each operation has a column of its
//        own: `add`, `stop` and `fire` are ns for one. Due times are drawn from an hour.
#include <vole/vole.h>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "timer/timer_set.h"

namespace {

using vole::rt::timer_set;
using vole::rt::timer;

constexpr std::int64_t kHour = 3'600'000'000'000;
constexpr std::size_t kBatch = 1000;

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void nothing(timer*, vole::rt::M*) noexcept {}
void rest() noexcept {}

struct many_timers {
  explicit many_timers(std::size_t n) : timers(n + kBatch) {
    for (timer& t : timers) t.fire = &nothing;
    for (std::size_t i = 0; i < n; ++i) add(timers[i], 0);
  }
  ~many_timers() {
    s.clear([](timer*) {});
  }
  void add(timer& t, std::int64_t from) {
    s.add(&t, from + static_cast<std::int64_t>(random() % kHour));
  }

  timer_set s;
  std::mt19937_64 random{1};
  std::vector<timer> timers;
};

// The latest comer is stopped before its time: a deadline that was met.
void add_stop(benchmark::State& state) {
  many_timers c(static_cast<std::size_t>(state.range(0)));
  const std::size_t n = c.timers.size() - kBatch;
  double add = 0, stop = 0;
  for (auto _ : state) {
    const double t0 = now_ns();
    for (std::size_t i = 0; i < kBatch; ++i) c.add(c.timers[n + i], 0);
    const double t1 = now_ns();
    for (std::size_t i = 0; i < kBatch; ++i) timer_set::stop(&c.timers[n + i], &rest);
    const double t2 = now_ns();
    add += t1 - t0;
    stop += t2 - t1;
    state.SetIterationTime((t2 - t0) / 1e9);
  }
  const double ops = static_cast<double>(state.iterations()) * kBatch;
  state.counters["add"] = add / ops;
  state.counters["stop"] = stop / ops;
}
BENCHMARK(add_stop)->RangeMultiplier(10)->Range(1000, 1'000'000)->UseManualTime();

// The first of all is due, again and again; it comes back an hour later at most, untimed.
void fire(benchmark::State& state) {
  many_timers c(static_cast<std::size_t>(state.range(0)));
  std::vector<timer*> fired(kBatch);
  vole::rt::risen up;  // nobody sleeps here
  std::int64_t now = 0;
  double all = 0;
  for (auto _ : state) {
    const double t0 = now_ns();
    c.s.begin_firing();
    for (timer*& t : fired) {
      now = c.s.first();
      t = c.s.take_due(now, up);
      t->fire(t, nullptr);
      c.s.fired();
    }
    c.s.end_firing();
    const double t1 = now_ns();
    all += t1 - t0;
    state.SetIterationTime((t1 - t0) / 1e9);
    for (timer* const t : fired) c.add(*t, now);
  }
  state.counters["fire"] = all / (static_cast<double>(state.iterations()) * kBatch);
}
BENCHMARK(fire)->RangeMultiplier(10)->Range(1000, 1'000'000)->UseManualTime();

// A goroutine resets one timer of many: stop, empty the channel, add.
void user_reset(benchmark::State& state) {
  vole::run([&state] {
    std::vector<vole::timer> others;
    std::mt19937_64 random(1);
    for (std::int64_t i = 0; i < state.range(0); ++i)
      others.emplace_back(vole::duration(kHour + static_cast<std::int64_t>(random() % kHour)));
    vole::timer mine(std::chrono::hours(1));
    for (auto _ : state)
      benchmark::DoNotOptimize(
          mine.reset(vole::duration(kHour + static_cast<std::int64_t>(random() % kHour))));
  });
}
BENCHMARK(user_reset)->RangeMultiplier(10)->Range(1000, 1'000'000);

}  // namespace
