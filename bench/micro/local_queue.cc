// What one operation on a P's own run queue costs, alone and against a thief.
//
// Note   the queue stores pointers and never looks behind them (only spill links), so a
//        handful of records stands for any number of goroutines.
#include "queue/local_queue.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace {

using vole::rt::local_queue;
using vole::rt::runnable;

runnable records[local_queue::kCapacity];

void fill(local_queue& q) {
  for (runnable& r : records) q.push_owner(&r);
}

void drain(local_queue& q) {
  while (q.pop_owner()) {
  }
}

// One in, one out: the ring never holds more than one.
void push_pop(benchmark::State& state) {
  local_queue q;
  for (auto _ : state) {
    q.push_owner(&records[0]);
    benchmark::DoNotOptimize(q.pop_owner());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(push_pop);

// The whole ring in, the whole ring out; an item is one push and one pop.
void fill_drain(benchmark::State& state) {
  local_queue q;
  for (auto _ : state) {
    fill(q);
    drain(q);
  }
  state.SetItemsProcessed(state.iterations() * local_queue::kCapacity);
}
BENCHMARK(fill_drain);

// A full ring gives half away and takes it back; an item is one record spilled.
void spill_half(benchmark::State& state) {
  local_queue q;
  fill(q);
  for (auto _ : state) {
    runnable* half[local_queue::kHalf];
    benchmark::DoNotOptimize(q.spill_half_owner(half));
    for (std::uint32_t i = 0; i < local_queue::kHalf; ++i) q.push_owner(&records[i]);
  }
  state.SetItemsProcessed(state.iterations() * local_queue::kHalf);
}
BENCHMARK(spill_half);

// Nobody else is there: the victim holds `range(0)`, the thief takes half and drains it.
void steal_half_quiet(benchmark::State& state) {
  const auto held = static_cast<std::uint32_t>(state.range(0));
  const std::uint32_t taken = held - held / 2;
  local_queue victim, thief;
  for (std::uint32_t i = 0; i < held; ++i) victim.push_owner(&records[i]);
  for (auto _ : state) {
    benchmark::DoNotOptimize(thief.steal_half_owner(victim));
    drain(thief);
    for (std::uint32_t i = 0; i < taken; ++i) victim.push_owner(&records[i]);
  }
  state.SetItemsProcessed(state.iterations() * taken);
}
BENCHMARK(steal_half_quiet)->Arg(1)->Arg(16)->Arg(256);

// The owner's push and pop while another thread steals without pause: the worst company an
// owner can have. An item is one push and one pop; `stolen` is the share the thief took.
void owner_against_thief(benchmark::State& state) {
  local_queue q;
  std::atomic<bool> stop{false};
  std::thread thief([&q, &stop] {
    local_queue own;
    while (!stop.load(std::memory_order_relaxed)) {
      benchmark::DoNotOptimize(own.steal_half_owner(q));
      drain(own);
    }
  });
  std::int64_t kept = 0;
  for (auto _ : state) {
    q.push_owner(&records[0]);
    q.push_owner(&records[1]);
    kept += q.pop_owner() != nullptr;
    kept += q.pop_owner() != nullptr;
  }
  stop.store(true, std::memory_order_relaxed);
  thief.join();
  const std::int64_t pushed = 2 * state.iterations();
  state.counters["stolen"] = 1.0 - static_cast<double>(kept) / static_cast<double>(pushed);
  state.SetItemsProcessed(pushed);
}
BENCHMARK(owner_against_thief)->UseRealTime();

}  // namespace
