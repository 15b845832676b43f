// sysmon's looks at a P, with a clock of our own. There is no runtime: the P and its M are the test's,
// and the M is inside, so that a P which is to be taken is asked for and stays.

#include "sched/policy/slices.h"

#include <gtest/gtest.h>

#include <memory>

#include "gmp/m.h"
#include "os/os.h"
#include "sched/state.h"

namespace vole::rt::slices {
namespace {

constexpr std::int64_t kMilli = 1'000'000;

class Slices : public testing::Test {
 protected:
  void SetUp() override {
    begin();
    p_->id = kMaxProcs - 1;
    p_->m.store(m_.get(), seq_cst);
    set_status(*p_, p_status::running);
    m_->p = p_.get();
    m_->hot.p.store(p_.get(), relaxed);
    m_->tid.store(os::thread_id(), relaxed);  // its CPU clock is ours
  }
  void TearDown() override { sched.evicted.store(0, relaxed); }

  // In the n-th call of blocking().
  void mark(std::uint64_t n) {
    m_->call.store((n << 32) | (p_->schedtick.load(relaxed) + 1), relaxed);
  }

  finding look(demand others, std::int64_t now) { return slices::look(*p_, others, now); }
  bool is_asked() const { return m_->hot.attention.load(relaxed) != 0; }

  // A goroutine that runs, seen at 0 and measured at 1.
  void see_running(demand others) {
    EXPECT_EQ(look(others, 0), finding::nothing);
    EXPECT_EQ(look(others, 1), finding::suspicion);
    EXPECT_FALSE(is_asked());
  }

 private:
  const std::unique_ptr<P> p_ = std::make_unique<P>();
  const std::unique_ptr<M> m_ = std::make_unique<M>();
};

// Computes for so long by the thread's own clock.
void burn(std::int64_t ns) {
  const std::int64_t until = os::thread_cpu_ns() + ns;
  while (os::thread_cpu_ns() < until) {
  }
}

TEST_F(Slices, TheSameMarkedCallTwiceIsTaken) {  // [23]
  mark(1);
  EXPECT_EQ(look(demand::work, 0), finding::in_call);
  EXPECT_FALSE(is_asked());
  look(demand::work, 1);  // its CPU clock moves, and does not matter
  EXPECT_TRUE(is_asked());
}

TEST_F(Slices, AnotherCallIsLeftAlone) {  // [23] [27]
  for (std::uint64_t n = 1; n < 10; ++n) {
    mark(n);
    EXPECT_EQ(look(demand::work, static_cast<std::int64_t>(n)), finding::in_call);
    EXPECT_FALSE(is_asked());
  }
}

TEST_F(Slices, ACallThatNobodyWaitsForHasTenMilliseconds) {  // [27]
  mark(1);
  look(demand::none, 0);
  look(demand::none, 10 * kMilli - 1);
  EXPECT_FALSE(is_asked());
  look(demand::none, 10 * kMilli);
  EXPECT_TRUE(is_asked());
}

TEST_F(Slices, TenMillisecondsOfCpuTime) {  // [27]
  see_running(demand::work);
  burn(5 * kMilli);
  look(demand::work, 2);
  EXPECT_FALSE(is_asked());
  burn(5 * kMilli);
  look(demand::work, 3);
  EXPECT_TRUE(is_asked());
}

TEST_F(Slices, TenMillisecondsWhileEvictedOnesCompete) {  // [27]
  sched.evicted.store(1, relaxed);
  see_running(demand::work);
  look(demand::work, 10 * kMilli);
  EXPECT_FALSE(is_asked());
  look(demand::work, 10 * kMilli + 1);
  EXPECT_TRUE(is_asked());
}

TEST_F(Slices, OneMillisecondIfATimerWaits) {  // [27]
  see_running(demand::urgent);
  burn(kMilli);
  look(demand::urgent, 2);
  EXPECT_TRUE(is_asked());
}

TEST_F(Slices, NobodyIsAskedWhomNobodyWaitsFor) {  // [27]
  look(demand::none, 0);
  burn(11 * kMilli);
  for (int i = 1; i < 100; ++i) look(demand::none, i * kMilli);
  EXPECT_FALSE(is_asked());
}

}  // namespace
}  // namespace vole::rt::slices
