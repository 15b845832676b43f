// What a switch costs, and a goroutine's life.
//
// Note   VOLE_MAXPROCS=1 shows the paths themselves; with more Ps goroutines are stolen.
#include <vole/vole.h>

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>

namespace {

// We and range(0) others yield in turn. An item is our yield: a whole round.
void yield_among(benchmark::State& state) {
  vole::run([&state] {
    std::atomic<bool> stop{false};
    vole::wait_group others;
    for (std::int64_t i = 0; i < state.range(0); ++i)
      others.go([&stop] {
        while (!stop.load(std::memory_order_relaxed)) vole::yield();
      });
    for (auto _ : state) vole::yield();
    stop.store(true, std::memory_order_relaxed);
    others.wait();
  });
  state.SetItemsProcessed(state.iterations() * (state.range(0) + 1));
}
BENCHMARK(yield_among)->Arg(0)->Arg(1)->Arg(9)->Arg(99)->Arg(999)->UseRealTime();

// Parked and woken: a goroutine waits for its child to end.
void spawn_and_join(benchmark::State& state) {
  vole::run([&state] {
    for (auto _ : state) vole::spawn([] {}).join();
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(spawn_and_join)->UseRealTime();

// range(0) are born before anybody waits; an item is one life.
void spawn_batch(benchmark::State& state) {
  vole::run([&state] {
    vole::wait_group wg;
    for (auto _ : state) {
      for (std::int64_t i = 0; i < state.range(0); ++i) wg.go([] {});
      wg.wait();
    }
  });
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(spawn_batch)->Arg(1)->Arg(32)->Arg(256)->Arg(4096)->UseRealTime();

void checkpoint(benchmark::State& state) {
  vole::run([&state] {
    for (auto _ : state) vole::checkpoint();
  });
}
BENCHMARK(checkpoint);

void blocking_empty(benchmark::State& state) {
  vole::run([&state] {
    for (auto _ : state) vole::blocking([] {});
  });
}
BENCHMARK(blocking_empty);

}  // namespace
