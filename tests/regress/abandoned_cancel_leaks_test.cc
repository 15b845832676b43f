// A goroutine cancels contexts that live outside of the runtime, and run() ends before it is done:
// what it still held of them was lost, so they were never freed.
//
//     the goroutine                             the runtime
//     cancels a tree: now its frame holds
//       a reference to every record and
//       the functions that are to be started
//     enters to start one of them,
//       or leaves the runtime
//                                             ends: the frame is gone, and with it the references
//
// A value of the top context tells whether all below it was freed.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <atomic>
#include <optional>
#include <vector>

#include "regress.h"

namespace {

VOLE_AT_PROCS(AbandonedCancel, 1, 2, 4);

std::atomic<int> alive{0};
struct counted {
  counted() { ++alive; }
  counted(const counted&) { ++alive; }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }
};
constexpr vole::context_key<counted> key{"counted"};

struct tree {
  tree() {
    const auto above = vole::with_value(vole::context::background(), key, counted());
    top.emplace(vole::with_cancel(above));
    for (int i = 0; i < 8; ++i) {
      below.push_back(vole::with_cancel(top->ctx));
      watches.push_back(vole::after_func(below.back().ctx, [] { vole::yield(); }));
    }
  }
  std::optional<vole::cancelable> top;
  std::vector<vole::cancelable> below;
  std::vector<vole::func_watch> watches;
};

TEST_P(AbandonedCancel, LosesNothingOfAContextOutside) {
  int n = 0;
  for (vole_test::rounds r(400); r.next(); ++n) {
    std::vector<tree> trees(8);
    vole::run([&] {
      for (tree& t : trees) vole::go([&t] { t.top->cancel(); });
      for (int k = n % 7; k > 0; --k) vole::yield();
    });
    trees.clear();
    ASSERT_EQ(alive, 0) << "in round " << n;
  }
  allow_zombies();
}

}  // namespace
