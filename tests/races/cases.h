// The table of races: a program with a mistake, and its correct twin.
//
// Law    in the racy one both accesses happen and nothing orders them, whoever comes first: where an
//        order is needed to get there, `after` and `now` make it by relaxed atomics, which order
//        nothing for a race detector.
// Note   a twin differs from its racy program by the one thing that is the mistake.
#pragma once

#include <atomic>
#include <chrono>
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

// For what a race detector must not see.
#define UNSEEN __attribute__((disable_sanitizer_instrumentation))

// An order of events that no race detector takes for one. TSan remembers what a goroutine did for some
// ten thousand events of its own, and a turn of the scheduler is a few: so nobody waits in a hurry.
class step {
 public:
  UNSEEN void now() { __atomic_store_n(&done_, true, __ATOMIC_RELAXED); }
  UNSEEN void after() const {
    for (int turns = 0; !__atomic_load_n(&done_, __ATOMIC_RELAXED); ++turns) {
      if (turns < 20) {
        vole::yield();
      } else {
        pause();
      }
    }
  }

 private:
  static void pause() { vole::sleep_for(std::chrono::microseconds(100)); }

  bool done_ = false;
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
