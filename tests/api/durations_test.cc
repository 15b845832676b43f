// Any std::chrono duration and any clock's time, wherever vole takes one.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <ratio>

#include "fixture.h"

namespace {

using namespace std::chrono_literals;
using vole::context;
using vole::detail::to_duration;

class Durations : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Durations);

template <class Rep, class Period = std::ratio<1>>
using span = std::chrono::duration<Rep, Period>;

static_assert(to_duration(0.5s) == 500ms);
static_assert(to_duration(span<float>(0.25f)) == 250ms);
static_assert(to_duration(1.5ms) == 1500us);
static_assert(to_duration(std::chrono::hours(-2)) == -2h);
static_assert(to_duration(span<int, std::pico>(2999)) == 2ns);
static_assert(to_duration(span<signed char, std::ratio<1, 256'000'000'000>>(-1)) == 0ns);
static_assert(to_duration(span<int, std::ratio<1, 3>>(3)) == 1s);
static_assert(to_duration(span<unsigned char>(7)) == 7s);

// Too much is the most there is, of either sign.
static_assert(to_duration(std::chrono::hours::max()) == vole::duration::max());
static_assert(to_duration(std::chrono::hours::min()) == vole::duration::min());
static_assert(to_duration(span<unsigned long, std::nano>(~0ul)) == vole::duration::max());
static_assert(to_duration(span<double>(1e300)) == vole::duration::max());
static_assert(to_duration(span<double>(-1e300)) == vole::duration::min());
static_assert(to_duration(span<double>(std::numeric_limits<double>::infinity())) ==
              vole::duration::max());
static_assert(to_duration(span<double, std::nano>(9223372036854775808.0)) == vole::duration::max());
static_assert(to_duration(span<double, std::nano>(-9223372036854775808.0)) ==
              vole::duration::min());

// A number is no duration, and nothing else becomes one.
template <class T>
concept slept_for = requires(T t) {
  vole::sleep_for(t);
};
static_assert(slept_for<vole::duration> && slept_for<span<double>> && slept_for<std::chrono::days>);
static_assert(!slept_for<int> && !slept_for<double> && !slept_for<const char*>);
static_assert(!slept_for<context> && !slept_for<vole::time_point>);

TEST_P(Durations, AreTakenByWhateverWaits) {
  run([] {
    const span<double, std::milli> soon(0.25);
    vole::sleep_for(0.0001s);
    vole::sleep_for(span<float>(-1.0f));
    vole::chan<int> c;
    EXPECT_EQ(c.recv_for(soon).status, vole::chan_status::timeout);
    EXPECT_EQ(c.send_for(1, soon), vole::chan_status::timeout);
    const int value = 2;
    EXPECT_EQ(c.send_for(value, soon), vole::chan_status::timeout);
    bool late = false;
    vole::select(vole::on_recv(c), vole::on_after(soon, [&late] { late = true; }));
    EXPECT_TRUE(late);
    EXPECT_TRUE(vole::after(soon).recv());
    vole::timer t(std::chrono::hours(1));
    EXPECT_TRUE(t.reset(soon));
    EXPECT_TRUE(t.channel().recv());
    vole::ticker k(0.0001s);
    EXPECT_TRUE(k.channel().recv());
    EXPECT_THROW(vole::ticker(span<double>(std::nan(""))), std::invalid_argument);
    vole::chan<> called;
    vole::func_timer f = vole::after_func(0.0001s, [called] { called.close(); });
    called.recv();
    f.reset(1000.5h);
    EXPECT_TRUE(f.stop());
    vole::semaphore s(0);
    EXPECT_FALSE(s.try_acquire_for(soon));
    vole::mutex m;
    vole::condition_variable v;
    std::unique_lock lock(m);
    EXPECT_EQ(v.wait_for(lock, soon), std::cv_status::timeout);
    EXPECT_FALSE(v.wait_for(lock, soon, [] { return false; }));
    auto [ctx, cancel] = vole::with_timeout(context::background(), soon);
    ctx.done().recv();
    EXPECT_EQ(ctx.err(), vole::errc::deadline_exceeded);
  });
}

TEST(Duration, NotANumberIsNoTime) {
  EXPECT_EQ(to_duration(span<float>(std::nanf(""))), 0ns);
  EXPECT_EQ(to_duration(span<double, std::nano>(std::nan(""))), 0ns);
}

// What is too long is never, not at once.
TEST_P(Durations, TooLongIsNever) {
  run([] {
    vole::chan<int> c(1);
    const auto sender = vole::spawn([&c] { c.send(1); });
    EXPECT_EQ(c.recv_for(std::chrono::hours::max()).value, 1);
    auto [ctx, cancel] = vole::with_timeout(context::background(), span<double>(1e300));
    EXPECT_FALSE(ctx.deadline());
    EXPECT_FALSE(ctx.err());
  });
}

TEST_P(Durations, TimesOfOtherClocksAndOtherGrain) {
  run([] {
    using std::chrono::steady_clock;
    using std::chrono::system_clock;
    vole::sleep_until(system_clock::now() + 1ms);
    vole::sleep_until(steady_clock::now() + 0.001s);
    vole::sleep_until(std::chrono::time_point_cast<std::chrono::seconds>(steady_clock::now()));
    vole::chan<int> c;
    EXPECT_EQ(c.recv_until(system_clock::now() - 1h).status, vole::chan_status::timeout);
    EXPECT_EQ(c.recv_until(system_clock::time_point::min()).status, vole::chan_status::timeout);
    EXPECT_EQ(c.send_until(1, steady_clock::now() + 0.5ms), vole::chan_status::timeout);
    vole::semaphore s(0);
    EXPECT_FALSE(s.try_acquire_until(system_clock::now()));
    auto [never, cancel] =
        vole::with_deadline(context::background(), system_clock::time_point::max());
    EXPECT_FALSE(never.deadline());
    auto [ctx, stop] = vole::with_deadline(never, system_clock::now() + std::chrono::hours(1));
    EXPECT_GT(*ctx.deadline(), vole::now() + 50min);
    EXPECT_LT(*ctx.deadline(), vole::now() + 70min);
  });
}

}  // namespace
