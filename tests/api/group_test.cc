// group: errors, limits, ends.

#include <vole/group.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "fixture.h"

namespace {

class Group : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Group);

using vole::context;
using vole::errc;

TEST_P(Group, WaitsForAll) {
  const auto body = [] {
    std::atomic<int> n{0};
    vole::group g;
    for (int i = 0; i < 100; ++i)
      g.go([&n] {
        vole::yield();
        ++n;
      });
    g.wait();
    EXPECT_EQ(n, 100);
    EXPECT_EQ(g.context().err(), errc::canceled) << "as Go's: over when wait() returns";
  };
  run(body);
  body();
  vole::shutdown();
}

TEST_P(Group, TheFirstExceptionCancelsAndIsRethrown) {
  run([] {
    vole::group g;
    std::atomic<int> stopped{0};
    for (int i = 0; i < 10; ++i)
      g.go([&] {
        g.context().done().recv();
        ++stopped;
        throw std::logic_error("too late");
      });
    g.go([] { throw std::runtime_error("first"); });
    try {
      g.wait();
      ADD_FAILURE();
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), std::string("first"));
    }
    EXPECT_EQ(stopped, 10);
    EXPECT_THROW(std::rethrow_exception(g.context().cause()), std::runtime_error);
    EXPECT_THROW(g.wait(), std::runtime_error) << "as often as one asks";
  });
}

TEST_P(Group, ItsParentCancelsIt) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(context::background());
    vole::group g(ctx);
    for (int i = 0; i < 10; ++i) g.go([&g] { g.context().done().recv(); });
    cancel();
    g.wait();
    EXPECT_FALSE(vole::context::background().err());
  });
}

TEST_P(Group, DestroyedItCancelsAndWaits) {
  run([] {
    std::atomic<int> ended{0};
    {
      vole::group g;
      for (int i = 0; i < 10; ++i)
        g.go([&] {
          g.context().done().recv();
          ++ended;
          throw std::runtime_error("nobody asks");
        });
    }
    EXPECT_EQ(ended, 10);
    try {
      vole::group g;
      g.go([&] {
        g.context().done().recv();
        ++ended;
      });
      throw std::runtime_error("while unwinding");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(ended, 11);
    }
  });
}

TEST_P(Group, LimitIsKept) {
  run([] {
    vole::group g;
    g.set_limit(3);
    std::atomic<int> inside{0}, most{0}, n{0};
    for (int i = 0; i < 60; ++i)
      g.go([&] {
        const int now = ++inside;
        int seen = most;
        while (seen < now && !most.compare_exchange_weak(seen, now)) {
        }
        vole::yield();
        --inside;
        ++n;
      });
    g.wait();
    EXPECT_EQ(n, 60);
    EXPECT_LE(most, 3);
  });
}

TEST_P(Group, TryGoDoesNotWait) {
  run([] {
    vole::group g;
    EXPECT_TRUE(g.try_go([] {})) << "no limit";
    g.wait();
    g.set_limit(1);
    vole::chan<> hold;
    EXPECT_TRUE(g.try_go([hold] { hold.recv(); }));
    EXPECT_FALSE(g.try_go([] { ADD_FAILURE(); }));
    EXPECT_THROW(g.set_limit(2), std::logic_error);
    hold.send();
    g.wait();
    EXPECT_TRUE(g.try_go([] {}));
    g.wait();
    g.set_limit(0);
    EXPECT_FALSE(g.try_go([] { ADD_FAILURE(); }));
    g.set_limit(-1);
    EXPECT_TRUE(g.try_go([] {}));
    EXPECT_THROW(
        [&] {
          vole::group busy;
          busy.go([&busy] { busy.context().done().recv(); });
          busy.set_limit(1);
        }(),
        std::logic_error);
    g.wait();
  });
}

TEST_P(Group, MembersMayStartMembers) {
  run([] {
    std::atomic<int> n{0};
    vole::group g;
    for (int i = 0; i < 5; ++i)
      g.go([&] {
        for (int k = 0; k < 5; ++k) g.go([&n] { ++n; });
      });
    g.wait();
    EXPECT_EQ(n, 25);
  });
}

TEST_P(Group, MoveOnlyFunctionsAndEarlyExits) {
  run([] {
    vole::group g;
    g.set_limit(1);
    std::atomic<int> sum{0};
    for (int i = 1; i <= 4; ++i)
      g.go([&sum, mine = std::make_unique<int>(i)] {
        sum += *mine;
        vole::exit_goroutine();
      });
    g.wait();
    EXPECT_EQ(sum, 10);
  });
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::bad_alloc(); }
  void operator()() const {}
};

TEST_P(Group, AFunctionThatCannotBeCopiedLeavesNoTrace) {
  run([] {
    vole::group g;
    g.set_limit(1);
    const throws_when_copied fn;
    EXPECT_THROW(g.go(fn), std::bad_alloc);
    EXPECT_THROW((void)g.try_go(fn), std::bad_alloc);
    EXPECT_TRUE(g.try_go([] {})) << "its place is free again";
    g.wait();
  });
}

TEST_P(Group, WhoWaitedMayDestroyIt) {
  run([] {
    for (int i = 0; i < 300; ++i) {
      auto g = std::make_unique<vole::group>();
      g->set_limit(2);
      for (int k = 0; k < 3; ++k) g->go([] {});
      g->wait();
    }
  });
}

TEST_P(Group, GoTakesArguments) {
  run([] {
    vole::group g;
    g.set_limit(2);
    std::atomic<int> sum{0};
    for (int i = 1; i <= 4; ++i) g.go([&sum](std::unique_ptr<int> p, int n) { sum += *p * n; },
                                      std::make_unique<int>(i), 10);
    g.wait();
    EXPECT_EQ(sum, 100);
    EXPECT_TRUE(g.try_go([&sum](int n) { sum += n; }, 1));
    EXPECT_TRUE(g.try_go({.name = "named"}, [&sum](int n) { sum += n; }, 2));
    g.wait();
    EXPECT_EQ(sum, 103);
    const throws_when_copied bad;
    EXPECT_THROW(g.go([](const throws_when_copied&) {}, bad), std::bad_alloc);
    g.go([](const std::string& why) { throw std::runtime_error(why); }, std::string("argument"));
    EXPECT_THROW(g.wait(), std::runtime_error);
  });
}

}  // namespace
