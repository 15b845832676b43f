// The table of races: a program with a mistake, and its correct twin.
//
// Law    in the racy one both accesses happen and nothing orders them, whoever comes first: where an
//        order is needed to get there, `after` and `now` make it by relaxed atomics, which order
//        nothing for a race detector.
// Note   a twin differs from its racy program by the one thing that is the mistake.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

#include <vole/vole.h>

namespace races {

struct test_case {
  std::string_view name;
  void (*racy)();
  void (*twin)();
  bool has_run = false;  // calls vole::run itself
};
std::vector<test_case>& all();

struct enlist {
  enlist(std::string_view name, void (*racy)(), void (*twin)(), bool has_run = false) {
    all().push_back({name, racy, twin, has_run});
  }
};

// RACE(name) { … if constexpr (kRacy) …; }
#define RACE_CASE(NAME, HAS_RUN)                                                       \
  template <bool kRacy>                                                                \
  void NAME();                                                                         \
  static const races::enlist enlist_##NAME{#NAME, &NAME<true>, &NAME<false>, HAS_RUN}; \
  template <bool kRacy>                                                                \
  void NAME()
#define RACE(NAME) RACE_CASE(NAME, false)
#define RACE_AROUND_RUN(NAME) RACE_CASE(NAME, true)

// An order of events that no race detector takes for one.
class step {
 public:
  void now() { done_.store(true, std::memory_order_relaxed); }
  void after() const {
    while (!done_.load(std::memory_order_relaxed)) vole::yield();
  }

 private:
  std::atomic<bool> done_{false};
};

// Both at once; returns when both are over.
template <class A, class B>
void both(A&& a, B&& b) {
  vole::wait_group over;
  over.go(std::forward<A>(a));
  over.go(std::forward<B>(b));
  over.wait();
}

// b begins when a is over, and nothing orders them: two accesses at the same instant TSan may miss.
template <class A, class B>
void in_turn(A&& a, B&& b) {
  step over;
  both(
      [&] {
        struct at_the_end {
          step& over;
          ~at_the_end() { over.now(); }
        } const here{over};
        a();
      },
      [&] {
        over.after();
        b();
      });
}

inline void use(int) {}

// An int with its bytes to itself: TSan remembers the last four accesses of each eight.
#define SHARED(NAME)                 \
  alignas(64) int NAME##_cell[16]{}; \
  int& NAME = NAME##_cell[0]

}  // namespace races
