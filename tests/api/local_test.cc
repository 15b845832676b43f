// local: a value per goroutine and per plain thread, destroyed with it.

#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

namespace {

class Local : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Local, testing::Values(1, 2, 4, 64), vole_test::procs_name);

constinit vole::local<int> number;
vole::local<std::string> text([] { return std::string("made"); });

TEST_P(Local, EachGoroutineHasItsOwnAndKeepsItAcrossThreads) {
  run([] {
    vole::wait_group all;
    for (int g = 1; g <= 40; ++g)
      all.go([g] {
        EXPECT_EQ(*number, 0) << "another goroutine's value";
        EXPECT_EQ(*text, "made");
        *number = g;
        text->append(std::to_string(g));
        for (int i = 0; i < 50; ++i) {
          vole::yield();
          EXPECT_EQ(number.get(), g);
        }
        EXPECT_EQ(*text, "made" + std::to_string(g));
      });
    all.wait();
  });
}

TEST_P(Local, GoroutinesInSequenceOnOneStackDoNotSeeEachOther) {
  run([] {
    for (int i = 0; i < 500; ++i)
      vole::spawn([] {
        EXPECT_EQ(*number, 0);
        *number = 1;
      }).join();
  });
}

TEST_P(Local, PlainThreadsHaveTheirOwn) {
  *number = 5;
  run([] { EXPECT_EQ(*number, 0); });
  std::thread([] {
    EXPECT_EQ(*number, 0);
    *number = 6;
  }).join();
  EXPECT_EQ(*number, 5);
  *number = 0;
}

std::atomic<int> alive, made;
struct tracked {
  tracked() : at(std::this_thread::get_id()) {
    ++alive;
    ++made;
  }
  tracked(const tracked&) = delete;
  tracked& operator=(const tracked&) = delete;
  ~tracked() {
    vole::yield();  // user context: it may park
    --alive;
  }
  std::thread::id at;
};
vole::local<tracked> tracker;

TEST_P(Local, DestroyedWithTheGoroutine) {
  made = 0;
  run([] {
    vole::wait_group all;
    for (int g = 0; g < 50; ++g) all.go([] { tracker.get(); });
    all.wait();
    while (alive != 0) vole::yield();
  });
  EXPECT_EQ(made.load(), 100);
}

TEST_P(Local, MainsAreDestroyedBeforeRunReturns) {
  run([] { tracker.get(); });
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(Local, DestroyedAfterExitGoroutine) {
  run([] {
    static std::atomic<bool> unwound;
    unwound = false;
    struct says {
      ~says() {
        EXPECT_EQ(alive.load(), 1) << "locals outlive the frames";
        unwound = true;
      }
    };
    vole::go([] {
      const says s;
      tracker.get();
      vole::exit_goroutine();
    });
    while (!unwound || alive != 0) vole::yield();
  });
}

TEST_P(Local, DestroyedWithAPlainThread) {
  std::thread([] {
    tracker.get();
    EXPECT_EQ(alive.load(), 1);
  }).join();
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(Local, DestroyedInReverseOrderOfMaking) {
  static std::string order;
  static std::atomic<int> ended;
  struct named {
    char name = '?';
    ~named() {
      order += name;
      ++ended;
    }
  };
  static vole::local<named> a, b, c;
  run([] {
    order.clear();
    ended = 0;
    vole::go([] {
      a->name = 'a';
      c->name = 'c';
      b->name = 'b';
    });
    while (ended < 3) vole::yield();
    EXPECT_EQ(order, "bca");
  });
}

TEST_P(Local, ADestructorMayUseLocals) {
  static std::atomic<int> ended;
  struct last {
    ~last() {
      EXPECT_EQ(*number, 3);
      *text = "made anew";
      ++ended;
    }
  };
  static vole::local<last> l;
  run([] {
    ended = 0;
    vole::go([] {
      *number = 3;
      l.get();
    });
    while (ended == 0) vole::yield();
  });
}

TEST_P(Local, MakeMayThrowAndIsTriedAgain) {
  static int tries;
  tries = 0;
  run([] {
    static vole::local<int> l([]() -> int {
      if (++tries % 2 == 1) throw std::runtime_error("no");
      return tries;
    });
    EXPECT_THROW(l.get(), std::runtime_error);
    EXPECT_EQ(*l % 2, 0);
  });
}

TEST_P(Local, ManyOfThem) {
  run([] {
    std::vector<std::unique_ptr<vole::local<int>>> many;
    for (int i = 0; i < 200; ++i)
      many.push_back(std::make_unique<vole::local<int>>([i] { return i; }));
    for (int i = 0; i < 200; ++i) EXPECT_EQ(**many[static_cast<std::size_t>(i)], i);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)]->get(), i);
  });
}

TEST_P(Local, ANewLocalAtAnOldAddressStartsAfresh) {
  run([] {
    alignas(vole::local<int>) std::byte room[sizeof(vole::local<int>)];
    for (int i = 0; i < 3; ++i) {
      auto* const l = ::new (room) vole::local<int>;
      EXPECT_EQ(**l, 0);
      **l = 9;
      l->~local();
    }
  });
}

// Memory goes, destructors do not run; ASan's leak checker has nothing to say.
TEST_P(Local, AbandonedGoroutinesValuesAreReleasedWithoutDestructors) {
  struct loud {
    ~loud() { ADD_FAILURE() << "destroyed"; }
    int array[100] = {};
  };
  static vole::local<loud> l;
  vole::wait_group never;
  never.add();
  static std::atomic<int> waiting;
  run([&] {
    waiting = 0;
    for (int g = 0; g < 10; ++g)
      vole::go([&never] {
        l.get();
        ++waiting;
        never.wait();
      });
    while (waiting < 10) vole::yield();
  });
  never.done();
}

}  // namespace
