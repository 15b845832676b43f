// What a stack costs at the depot, and a record at its slab: both in batches, as Ps ask for them.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/slab.h"
#include "stack/depot.h"

namespace {

using vole::rt::stack;
namespace depot = vole::rt::depot;

constexpr std::size_t kStackSize = 256 * 1024;

// range(0) out and in again. After the first time they are hot: no call of the kernel's.
void depot_take_put(benchmark::State& state) {
  std::vector<stack> stacks(static_cast<std::size_t>(state.range(0)));
  int error = 0;
  for (auto _ : state) {
    const std::size_t n = depot::take(kStackSize, stacks.data(), stacks.size(), &error);
    depot::put(stacks.data(), n);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(depot_take_put)->Arg(1)->Arg(16)->Arg(1024);

// Each is written to, and its page given back: what a burst of goroutines pays once.
void depot_first_touch(benchmark::State& state) {
  std::array<stack, 64> stacks;
  int error = 0;
  for (auto _ : state) {
    const std::size_t n = depot::take(kStackSize, stacks.data(), stacks.size(), &error);
    for (std::size_t i = 0; i < n; ++i) stacks[i].lo[kStackSize - 64] = std::byte{1};
    depot::put(stacks.data(), n);
    state.PauseTiming();
    while (depot::trim() != 0) {
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stacks.size()));
}
BENCHMARK(depot_first_touch);

struct record {
  std::byte bytes[256];
};

// Fresh memory, with the faults of its first use; an item is one record.
void slab_allocate(benchmark::State& state) {
  std::vector<record*> records(static_cast<std::size_t>(state.range(0)));
  std::size_t left = 0;
  vole::base::slab<record> slab;
  for (auto _ : state) {
    if (left == 0) {
      state.PauseTiming();
      slab.release_all();
      left = 1 << 16;
      state.ResumeTiming();
    }
    const std::size_t n = slab.allocate_batch(records.data(), records.size());
    for (std::size_t i = 0; i < n; ++i) records[i]->bytes[0] = std::byte{1};
    left -= n < left ? n : left;
  }
  slab.release_all();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(slab_allocate)->Arg(1)->Arg(32);

}  // namespace
