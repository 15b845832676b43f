// singleflight: one call for all who wait, its exceptions, and what does not count.

#include <vole/singleflight.h>
#include <vole/vole.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using vole::singleflight;

class Singleflight : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Singleflight);

TEST_P(Singleflight, AllWhoWaitShareOneCall) {
  run([] {
    singleflight<std::string, std::string> s;
    std::atomic<int> calls{0};
    vole::chan<> entered, go_on;
    auto first = vole::spawn([&] {
      return s.call("key", [&] {
        ++calls;
        entered.send();
        go_on.recv();
        return std::string("value");
      });
    });
    entered.recv();
    std::vector<vole::join_handle<std::string>> others;
    for (int i = 0; i < 10; ++i)
      others.push_back(vole::spawn([&] {
        return s.call("key", [&] {
          ++calls;
          return "another";
        });
      }));
    vole_test::wait_until_parked(11, "chan receive");
    EXPECT_EQ(s.call("other key", [] { return "at once"; }), "at once");
    go_on.send();
    EXPECT_EQ(first.join(), "value");
    for (auto& o : others) EXPECT_EQ(o.join(), "value");
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(s.call("key", [] { return "new"; }), "new") << "results are not kept";
  });
}

TEST_P(Singleflight, ExceptionsAreShared) {
  run([] {
    singleflight<int, int> s;
    vole::chan<> entered, go_on;
    const auto fails = [&]() -> int {
      entered.send();
      go_on.recv();
      throw std::runtime_error("failed");
    };
    vole::latch both_have_read(2);  // ThreadSanitizer does not see the exception's own count
    const auto message = [&](auto call) {
      try {
        call();
      } catch (const std::runtime_error& e) {
        std::string text = e.what();
        both_have_read.arrive_and_wait();
        return text;
      }
      return std::string();
    };
    auto first = vole::spawn([&] { return message([&] { s.call(1, fails); }); });
    entered.recv();
    auto second = vole::spawn([&] { return message([&] { s.call(1, [] { return 1; }); }); });
    vole_test::wait_until_parked(2, "chan receive");
    go_on.send();
    EXPECT_EQ(first.join(), "failed");
    EXPECT_EQ(second.join(), "failed");
    EXPECT_EQ(s.call(1, [] { return 2; }), 2);
  });
}

TEST_P(Singleflight, ForgetLetsTheNextOneFly) {
  run([] {
    singleflight<int, int> s;
    vole::chan<> entered, go_on;
    auto first = vole::spawn([&] {
      return s.call(1, [&] {
        entered.send();
        go_on.recv();
        return 1;
      });
    });
    entered.recv();
    s.forget(1);
    EXPECT_EQ(s.call(1, [] { return 2; }), 2);
    auto third = vole::spawn([&] {
      return s.call(1, [&] {
        entered.send();
        go_on.recv();
        return 3;
      });
    });
    entered.recv();
    auto fourth = vole::spawn([&] { return s.call(1, [] { return 4; }); });
    vole_test::wait_until_parked(3, "chan receive");
    go_on.send();
    go_on.send();
    EXPECT_EQ(first.join(), 1);
    EXPECT_EQ(third.join(), 3);
    EXPECT_EQ(fourth.join(), 3) << "the first, forgotten, does not free the third's key";
  });
}

TEST_P(Singleflight, OneThatExitsDoesNotCount) {
  run([] {
    singleflight<int, void> s;
    vole::chan<> entered, go_on;
    auto first = vole::spawn([&] {
      s.call(1, [&] {
        entered.send();
        go_on.recv();
        vole::exit_goroutine();
      });
    });
    entered.recv();
    std::atomic<int> calls{0};
    auto second = vole::spawn([&] { s.call(1, [&] { ++calls; }); });
    vole_test::wait_until_parked(2, "chan receive");
    go_on.send();
    second.join();
    EXPECT_EQ(calls, 1);
    EXPECT_THROW(first.join(), std::system_error);
  });
}

TEST_P(Singleflight, AContextEndsOneWait) {
  run([] {
    singleflight<int, std::unique_ptr<int>*> s;
    vole::chan<> entered, go_on;
    auto first = vole::spawn([&] {
      return s.call(1, [&] {
        entered.send();
        go_on.recv();
        return nullptr;
      });
    });
    entered.recv();
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    auto second = vole::spawn([&, ctx = ctx] {
      try {
        s.call(1, [] { return nullptr; }, ctx);
      } catch (const std::system_error& e) {
        return e.code();
      }
      return std::error_code();
    });
    vole_test::wait_until_parked(1, "select");
    cancel();
    EXPECT_EQ(second.join(), vole::errc::canceled);
    go_on.send();
    EXPECT_EQ(first.join(), nullptr);
  });
}

}  // namespace
