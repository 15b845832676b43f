// What mutexes and wait groups cost, alone and in company.
#include <vole/vole.h>

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

namespace {

template <class Mutex>
void mutex_alone(benchmark::State& state) {
  vole::run([&state] {
    Mutex m;
    for (auto _ : state) {
      m.lock();
      benchmark::DoNotOptimize(m);
      m.unlock();
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(mutex_alone<vole::mutex>);
BENCHMARK(mutex_alone<vole::shared_mutex>);
BENCHMARK(mutex_alone<std::mutex>);  // for comparison

template <class Mutex>
void mutex_shared_alone(benchmark::State& state) {
  vole::run([&state] {
    Mutex m;
    for (auto _ : state) {
      m.lock_shared();
      benchmark::DoNotOptimize(m);
      m.unlock_shared();
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(mutex_shared_alone<vole::shared_mutex>);
BENCHMARK(mutex_shared_alone<std::shared_mutex>);

// range(0) others lock and unlock without pause meanwhile. An item is a lock and unlock of ours.
void mutex_in_company(benchmark::State& state) {
  vole::run([&state] {
    vole::mutex m;
    std::atomic<bool> stop{false};
    vole::wait_group others;
    for (std::int64_t i = 0; i < state.range(0); ++i)
      others.go([&m, &stop] {
        while (!stop.load(std::memory_order_relaxed)) {
          const std::lock_guard hold(m);
          benchmark::ClobberMemory();
        }
      });
    for (auto _ : state) {
      const std::lock_guard hold(m);
      benchmark::ClobberMemory();
    }
    stop.store(true, std::memory_order_relaxed);
    others.wait();
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(mutex_in_company)->Arg(1)->Arg(8)->Arg(64)->UseRealTime();

void wait_group_add_done(benchmark::State& state) {
  vole::run([&state] {
    vole::wait_group wg;
    wg.add();  // never zero meanwhile
    for (auto _ : state) {
      wg.add();
      wg.done();
    }
    wg.done();
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(wait_group_add_done);

void semaphore_alone(benchmark::State& state) {
  vole::run([&state] {
    vole::semaphore s(1);
    for (auto _ : state) {
      s.acquire();
      s.release();
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(semaphore_alone);

}  // namespace
