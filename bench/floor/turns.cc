// The floor under rows in which contexts only take turns: a ring and the switch.
#include "context.h"
#include "floor.h"

#include <memory>

namespace bench {
namespace {

// A ring to which one thread pushes with plain stores, and from which it pops with one
// compare-exchange, as if others might steal.
class ring {
 public:
  static constexpr std::uint32_t kCapacity = 1024;

  // The slot to be filled: with a context, by the switch that leaves it.
  void** push() {
    const std::uint32_t back = back_.load(std::memory_order_relaxed);
    back_.store(back + 1, std::memory_order_release);
    return &slots_[back % kCapacity];
  }
  void* pop() {  // nullptr: empty
    std::uint32_t front = front_.load(std::memory_order_acquire);
    for (;;) {
      if (front == back_.load(std::memory_order_relaxed)) return nullptr;
      void* const sp = slots_[front % kCapacity];
      if (front_.compare_exchange_weak(front, front + 1)) return sp;
    }
  }

 private:
  alignas(64) std::atomic<std::uint32_t> front_{0};
  alignas(64) std::atomic<std::uint32_t> back_{0};
  alignas(64) void* slots_[kCapacity] = {};
};

// ── yield ──

// One thread's share of those that yield.
class yielders {
 public:
  yielders(std::size_t contexts, int turns) : stacks_(contexts), turns_(turns) {
    for (std::size_t i = 0; i < contexts; ++i) {
      stacks_.guard(i, 1);
      *ring_.push() = prepare(stacks_.top(i), &yielders::body, this);
    }
  }
  void run() {
    if (void* const first = ring_.pop()) floor_switch(&main_, first);
  }

 private:
  static void body(void* self) {
    auto& y = *static_cast<yielders*>(self);
    for (int i = y.turns_; i > 0; --i)
      if (void* const next = y.ring_.pop()) floor_switch(y.ring_.push(), next);
    void* gone = nullptr;
    void* const next = y.ring_.pop();
    floor_switch(&gone, next != nullptr ? next : y.main_);
  }

  ring ring_;
  stack_range stacks_;
  int turns_;
  void* main_ = nullptr;
};

// Counted: taking the next from the ring, putting oneself there, a switch; each core has its share
// of the contexts. Where that is one (`yield` on two cores), a yield is a look at an empty ring.
// Left out: everybody else whose turn it might be: other cores' rings, timers, the network.
double yields(int n, std::size_t contexts) {
  const int turns = n / static_cast<int>(contexts);
  std::vector<std::unique_ptr<yielders>> all;
  for (const std::size_t share : shares_of(contexts))
    if (share != 0) all.push_back(std::make_unique<yielders>(share, turns));
  const stopwatch watch;
  on_threads(all.size(), [&all](std::size_t k) { all[k]->run(); });
  return watch.ns() / n;
}

int yield2(int n) {
  report("yield", yields(n, 2), "ns/op");
  return 0;
}

int yield1k(int n) {
  report("yield1k", yields(n, 1000), "ns/op");
  return 0;
}

// ── spawn_join ──

struct task {
  void (*run)(void*);
  void* argument;
};

// Counted: a task's two words written, pushed and popped (one compare-exchange), called, its done()
// (one locked subtraction); every 256 a switch there and back. One core. Left out: its record and
// stack; the next one starts on the last one's, as it has ended.
struct spawning {
  static constexpr int kBatch = 256;

  troupe cast;
  ring waiting;
  task tasks[kBatch];
  std::atomic<long> pending{0};

  static void done(void* self) { static_cast<spawning*>(self)->pending.fetch_sub(1); }
  static void runner(void* self) {
    auto& s = *static_cast<spawning*>(self);
    for (;;) {
      while (void* const next = s.waiting.pop()) {
        const task t = *static_cast<task*>(next);
        t.run(t.argument);
      }
      s.cast.leave(0, troupe::kMain);
    }
  }
};

int spawn_join(int n) {
  const auto s = std::make_unique<spawning>();
  s->cast.add(0, &spawning::runner, s.get());
  const stopwatch watch;
  s->pending = n;
  for (int i = 0; i < n; ++i) {
    task& t = s->tasks[i % spawning::kBatch];
    t = {&spawning::done, s.get()};
    *s->waiting.push() = &t;
    if ((i + 1) % spawning::kBatch == 0) s->cast.leave(troupe::kMain, 0);
  }
  s->cast.leave(troupe::kMain, 0);
  report("spawn_join", watch.ns() / n, "ns/op");
  return s->pending == 0 ? 0 : 1;
}

constexpr benchmark kTurns[] = {
    {"spawn_join", spawn_join, 1'000'000},
    {"yield", yield2, 5'000'000},
    {"yield1k", yield1k, 5'000'000},
};

}  // namespace

std::span<const benchmark> turns() { return kTurns; }

}  // namespace bench
