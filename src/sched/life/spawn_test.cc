// Newborns, seen from inside: where they are queued, and where their ids come from.

#include "sched/life/spawn.h"

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <string>

#include "sched/life/enter.h"
#include "sched/state.h"

namespace vole::rt {
namespace {

class Newborn : public testing::Test {
 protected:
  template <class Body>
  static void run_at_one_p(Body body) {
    const int had = vole::set_max_procs(1);
    vole::run(body);
    vole::set_max_procs(had);
  }

  // How many of a thousand, each alone in the queue, are in runnext.
  template <class F>
  static int in_runnext(F callable) {
    int n = 0;
    run_at_one_p([&] {
      for (int i = 0; i < 1000; ++i) {
        vole::go(callable);
        M* const m = enter();
        n += m->p->runnext.load(relaxed) != nullptr ? 1 : 0;
        leave(m);
        while (vole::num_goroutines() > 1) vole::yield();
      }
    });
    return n;
  }

  // Checked builds let nobody rely on the order, as Go's race builds do: every second one goes behind.
  static void expect_as_built(int n) {
#ifdef VOLE_CHECKED
    EXPECT_GT(n, 400);
    EXPECT_LT(n, 600);
#else
    EXPECT_GT(n, 900) << "all, unless the kernel took the thread away in between";
#endif
  }
};

TEST_F(Newborn, GoesToRunnext) {  // [5]
  expect_as_built(in_runnext([] {}));
}

TEST_F(Newborn, GoesToRunnextIfItsCallableIsNotTrivial) {  // [5]
  expect_as_built(in_runnext([text = std::string(100, 'x')] { EXPECT_EQ(text.size(), 100u); }));
}

TEST_F(Newborn, IdsComeSixteenAtATime) {  // [31]
  run_at_one_p([] {
    M* m = enter();
    P& p = *m->p;
    const auto spawn = [] { vole::go([] {}); };
    while (p.next_id != p.end_id) {
      leave(m);
      spawn();
      m = enter();
    }
    const std::uint64_t before = sched.next_g_id.load(relaxed);
    leave(m);
    for (int i = 0; i < 16; ++i) {
      spawn();
      EXPECT_EQ(sched.next_g_id.load(relaxed), before + 16) << i;
    }
    spawn();
    EXPECT_EQ(sched.next_g_id.load(relaxed), before + 32);
  });
}

}  // namespace
}  // namespace vole::rt
