// Two threads set the number of Ps at the same time, and the next runtime has another number than
// this one.
//
//     A: set_max_procs(2)                 B: set_max_procs(3)
//     the next runtime: 2
//                                         the next runtime: 3
//                                         stops the world: 3 Ps; starts it
//     stops the world: 2 Ps; starts it
//
// The same where A, with no runtime to be seen, writes down what the next one will have, while that
// one is being started with what was written before.

#include <vole/vole.h>

#include <atomic>
#include <thread>

#include "regress.h"

namespace {

using vole_test::rounds;

// Lets two threads go at once.
class start_line {
 public:
  void wait() {
    ++there_;
    while (there_ < 2) {
    }
  }

 private:
  std::atomic<int> there_{0};
};

class MaxProcs : public testing::Test {
 protected:
  ~MaxProcs() override { vole::set_max_procs(procs_); }

 private:
  const int procs_ = vole::max_procs();
};

TEST_F(MaxProcs, OfTwoWhoSetThemOneCounts) {
  for (rounds r(400); r.next();) {
    vole::set_max_procs(4);
    int at_last = 0;
    vole::run([&] {
      start_line line;
      const auto set = [&line](int n) {
        line.wait();
        vole::set_max_procs(n);
      };
      std::thread other(set, 2);
      set(3);
      vole::blocking([&] { other.join(); });
      at_last = vole::max_procs();
    });
    ASSERT_EQ(vole::max_procs(), at_last);
  }
}

TEST_F(MaxProcs, SetWhileARuntimeStarts) {
  for (rounds r(400); r.next();) {
    vole::set_max_procs(4);
    start_line line;
    std::thread other([&line] {
      line.wait();
      vole::set_max_procs(2);
    });
    line.wait();
    int at_last = 0;
    vole::run([&] {
      vole::blocking([&] { other.join(); });
      at_last = vole::max_procs();
    });
    ASSERT_EQ(at_last, 2);
    ASSERT_EQ(vole::max_procs(), 2);
  }
}

// What is returned is what was there: all calls together are one row.
TEST_F(MaxProcs, EachOneReturnsTheOneBefore) {
  vole::run([] {
    vole::set_max_procs(1);
    for (rounds r(2000, std::chrono::milliseconds(300)); r.next();) {
      int before_other = 0;
      start_line line;
      std::thread other([&] {
        line.wait();
        before_other = vole::set_max_procs(2);
      });
      line.wait();
      const int before = vole::set_max_procs(3);
      vole::blocking([&] { other.join(); });
      const int first = vole::set_max_procs(1) == 3 ? before_other : before;
      ASSERT_EQ(first, 1);
      ASSERT_EQ(before + before_other - first, first == before ? 3 : 2);
    }
  });
}

}  // namespace
