// blocking(): an ordinary call that lets others have the P meanwhile [23] [24].

#include <vole/vole.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "fixture.h"

namespace {

using namespace std::chrono_literals;

class Blocking : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Blocking);

int add(int a, int b) { return a + b; }

struct counter {
  int n = 0;
  int& up(int by) {
    n += by;
    return n;
  }
};

// On a goroutine and on a plain thread it is the same call.
template <class F>
void everywhere(F body) {
  body();
  vole::run(body);
}

TEST_P(Blocking, GivesTheResult) {
  everywhere([] {
    EXPECT_EQ(vole::blocking([] { return 7; }), 7);
    EXPECT_EQ(vole::blocking(add, 3, 4), 7);
    EXPECT_EQ(vole::blocking([](std::string a, const char* b) { return a + b; }, "x", "y"), "xy");
    static_assert(std::is_void_v<decltype(vole::blocking([] {}))>);
    bool ran = false;
    vole::blocking([&] { ran = true; });
    EXPECT_TRUE(ran);
  });
}

std::string dump() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  vole::dump_goroutines(out);
  std::fclose(out);
  std::string all(text, size);
  std::free(text);
  return all;
}

// With a P, and when sysmon has taken it: the status is that of the call.
TEST_P(Blocking, DumpsAndCountsShowIt) {  // [1] [23]
  std::atomic<int> may_end{0};
  vole::join_handle<void> call = vole::spawn([&] {
    vole::blocking([&] { may_end.wait(0); });
    EXPECT_EQ(dump().find("[syscall"), std::string::npos) << "it is over";
  });
  EXPECT_TRUE(vole_test::eventually([] { return dump().find("[syscall") != std::string::npos; }));
  EXPECT_EQ(vole::stats().blocking_threads, 1);
  // Nobody needs its P: sysmon takes it after a while.
  EXPECT_TRUE(vole_test::eventually([] { return vole::stats().idle_procs == vole::stats().procs; }));
  EXPECT_NE(dump().find("[syscall"), std::string::npos);
  EXPECT_EQ(vole::stats().blocking_threads, 1);
  may_end = 1;
  may_end.notify_one();
  call.join();
  EXPECT_EQ(vole::stats().blocking_threads, 0);
}

TEST_P(Blocking, GivesReferencesAndTakesMembers) {
  everywhere([] {
    counter c;
    static_assert(std::is_same_v<decltype(vole::blocking(&counter::up, c, 2)), int&>);
    int& n = vole::blocking(&counter::up, c, 2);
    EXPECT_EQ(&n, &c.n);
    EXPECT_EQ(n, 2);
    int x = 0;
    vole::blocking([](int& out) { out = 5; }, x);
    EXPECT_EQ(x, 5);
  });
}

TEST_P(Blocking, TakesAndGivesWhatCanOnlyMove) {
  everywhere([] {
    auto p = std::make_unique<int>(1);
    std::unique_ptr<int> q = vole::blocking(
        [keep = std::make_unique<int>(2)](std::unique_ptr<int> in) {
          *in += *keep;
          return in;
        },
        std::move(p));
    EXPECT_EQ(*q, 3);
  });
}

TEST_P(Blocking, ThrowsWhatTheCallThrows) {
  everywhere([] {
    for (int i = 0; i < 3; ++i)
      EXPECT_THROW(vole::blocking([] { throw std::out_of_range("x"); }), std::out_of_range);
    try {
      vole::blocking([] {
        usleep(3000);
        throw 5;
      });
      ADD_FAILURE();
    } catch (const int n) {
      EXPECT_EQ(n, 5);
    }
  });
}

TEST_P(Blocking, NestsAndParksInside) {
  run([] {
    vole::chan<int> c;
    vole::go([&c] {
      for (int i = 0; i < 20; ++i) c.send(i);
      c.close();
    });
    const int sum = vole::blocking([&] {
      int s = 0;
      for (const int v : c) s += vole::blocking([&] { return v; });
      vole::yield();
      vole::sleep_for(1ms);
      usleep(1000);
      return s;
    });
    EXPECT_EQ(sum, 190);
  });
}

// More calls than Ps wait for one goroutine.
TEST_P(Blocking, OthersRunMeanwhile) {
  run([this] {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    vole::wait_group gone;
    const int n = procs() + 2;
    for (int i = 0; i < n; ++i)
      gone.go([&] {
        char c = 0;
        EXPECT_EQ(vole::blocking([&] { return read(ends[0], &c, 1); }), 1);
      });
    gone.go([&] {
      for (int i = 0; i < n; ++i) EXPECT_EQ(write(ends[1], "x", 1), 1);
    });
    gone.wait();
    close(ends[0]);
    close(ends[1]);
  });
}

// Short calls between suspension points: the P is there, gone, back again.
TEST_P(Blocking, ManyShortCallsBesideOthers) {
  run([] {
    std::atomic<long> sum{0};
    vole::wait_group gone;
    for (int g = 0; g < 8; ++g)
      gone.go([&] {
        for (int i = 0; i < 50; ++i) {
          sum += vole::blocking([&] {
            usleep(static_cast<useconds_t>(i % 3 * 100));
            return 1;
          });
          vole::yield();
        }
      });
    gone.wait();
    EXPECT_EQ(sum, 400);
  });
}

TEST_P(Blocking, UnwindsWithExitGoroutine) {
  run([] {
    vole::wait_group gone;
    gone.go([] {
      vole::blocking([] {
        usleep(2000);
        vole::exit_goroutine();
      });
    });
    gone.wait();
  });
}

}  // namespace
