// select: one of many, fairly; what its clauses refer to, and what their handlers may do.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::chan;
using vole::on_after;
using vole::on_default;
using vole::on_recv;
using vole::on_send;
using vole_test::wait_until_parked;

class Select : public vole_test::Runtime {
 protected:
  // On a goroutine, on a plain thread beside a runtime, and on one without.
  template <class F>
  void on_both(F body) {
    run([&] {
      body();
      std::thread(body).join();
    });
    std::thread(body).join();
  }
};
VOLE_AT_1_2_4_PROCS(Select);

TEST_P(Select, TakesWhatIsReady) {
  on_both([] {
    const chan<int> a(1), b(1);
    std::optional<int> v;
    EXPECT_EQ(vole::select(on_send(a, 1), on_recv(b)), 0u);
    EXPECT_EQ(vole::select(on_send(a, 1), on_recv(b), on_default()), 2u);
    b.send(2);
    EXPECT_EQ(vole::select(on_send(a, 1), on_recv(b, v)), 1u);
    EXPECT_EQ(v, 2);
    EXPECT_EQ(vole::select(on_recv(b, v), on_recv(vole::recv_chan<int>(a), v)), 1u);
    EXPECT_EQ(v, 1);
    EXPECT_EQ(a.size() + b.size(), 0u);
  });
}

TEST_P(Select, HandlersGetTheValue) {
  on_both([] {
    const chan<std::unique_ptr<int>> c(1);
    int sent = 0, got = 0, without = 0, closed = 0, idle = 0;
    const auto step = [&] {
      return vole::select(
          on_recv(c, [&](std::optional<std::unique_ptr<int>> p) { p ? got += **p : ++closed; }),
          on_default([&] { ++idle; }));
    };
    EXPECT_EQ(step(), 1u);
    EXPECT_EQ(vole::select(on_send(c, std::make_unique<int>(5), [&] { ++sent; })), 0u);
    EXPECT_EQ(step(), 0u);
    c.send(nullptr);
    EXPECT_EQ(vole::select(on_recv(c, [&] { ++without; })), 0u);
    c.close();
    EXPECT_EQ(step(), 0u);
    EXPECT_EQ(vole::select(on_recv(c, [&] { ++without; })), 0u);
    EXPECT_EQ((std::array{sent, got, without, closed, idle}), (std::array{1, 5, 2, 1, 1}));
  });
}

// A handler may take the value itself; a closed channel gives a default one, as Go's does.
TEST_P(Select, HandlersMayTakeTheValueItself) {
  on_both([] {
    const chan<std::string> c(1);
    std::string seen = "none";
    const auto select_with = [&c](auto handler) {
      EXPECT_EQ(vole::select(on_recv(c, handler)), 0u);
      std::vector<vole::select_case> cases;
      cases.emplace_back(on_recv(c, handler));
      EXPECT_EQ(vole::select(cases), 0u);
    };
    std::thread sends([&c] {
      for (const char* text : {"1", "2", "3", "4", "5", "6", "7", "8"}) c.send(text);
      c.close();
    });
    select_with([&](std::string s) { seen += s; });
    select_with([&](const std::string& s) { seen += s; });
    select_with([&](std::string&& s) { seen += s; });
    // One that could take either gets the optional.
    select_with([&](auto s) { seen += s.value(); });
    sends.join();
    select_with([&](std::string s) { seen += "-" + s; });
    select_with([&](auto s) { seen += s.has_value() ? "?" : "."; });
    EXPECT_EQ(seen, "none12345678--..");

    const chan<int> numbers(1);
    numbers.send(7);
    int sum = 0;
    const auto add = [&sum](int v) { sum += v; };
    EXPECT_EQ(vole::select(on_recv(numbers, add)), 0u);
    numbers.close();
    EXPECT_EQ(vole::select(on_recv(numbers, add)), 0u);
    EXPECT_EQ(sum, 7);
  });
}

TEST_P(Select, SendsConvert) {
  on_both([] {
    const chan<std::string> c(3);
    const char* const text = "one";
    const std::string kept = "two";
    vole::select(on_send(c, text));
    vole::select(on_send(c, kept));
    vole::select(on_send(vole::send_chan<std::string>(c), "three"));
    EXPECT_EQ(c.recv(), "one");
    EXPECT_EQ(c.recv(), "two");
    EXPECT_EQ(c.recv(), "three");
    EXPECT_EQ(kept, "two") << "an lvalue is copied";
    const chan<double> d(1);
    vole::select(on_send(d, 3));
    EXPECT_EQ(d.recv(), 3.0);
  });
}

TEST_P(Select, AnRvalueIsMovedOnlyIfTaken) {
  on_both([] {
    const chan<std::unique_ptr<int>> full, room(1);
    auto a = std::make_unique<int>(1), b = std::make_unique<int>(2);
    EXPECT_EQ(vole::select(on_send(full, std::move(a)), on_send(room, std::move(b))), 1u);
    EXPECT_TRUE(a && *a == 1);
    EXPECT_FALSE(b);
    EXPECT_EQ(vole::select(on_send(full, std::move(a)), on_after(100us)), 1u);
    EXPECT_TRUE(a && *a == 1);
    EXPECT_EQ(**room.recv(), 2);
  });
}

TEST_P(Select, BlocksUntilOneIsReady) {
  run([] {
    const chan<int> a, b, c;
    vole::wait_group done;
    for (int round = 0; round < 50; ++round) {
      std::optional<int> v;
      done.go([&] {
        EXPECT_EQ(vole::select(on_recv(a, v), on_send(b, 3), on_recv(c)),
                  static_cast<unsigned>(round) % 3);
      });
      if (round % 2 == 0) wait_until_parked(1, "select");
      if (round % 3 == 0) a.send(round);
      if (round % 3 == 1) {
        EXPECT_EQ(b.recv(), 3);
      }
      if (round % 3 == 2) c.send(0);
      done.wait();
      if (round % 3 == 0) {
        EXPECT_EQ(v, round);
      }
      for (const auto& ch : {a, b, c}) {  // pass 3 left nothing behind
        EXPECT_EQ(ch.try_send(0), vole::chan_status::would_block);
        EXPECT_FALSE(ch.try_recv());
      }
    }
  });
}

TEST_P(Select, APlainThreadBlocksToo) {
  on_both([] {
    const chan<int> a, b;
    std::thread peer([=] {
      for (int i = 0; i < 50; ++i) {
        if (i % 2 == 0) a.send(i);
        if (i % 2 != 0) {
          EXPECT_EQ(b.recv(), -1);
        }
      }
    });
    for (int i = 0; i < 50; ++i) {
      std::optional<int> v;
      EXPECT_EQ(vole::select(on_recv(a, v), on_send(b, -1), on_after(1h)),
                static_cast<unsigned>(i) % 2);
      if (i % 2 == 0) {
        EXPECT_EQ(v, i);
      }
    }
    peer.join();
  });
}

TEST_P(Select, NilCasesNeverFire) {
  on_both([] {
    const chan<int> nil = nullptr, c(1);
    EXPECT_EQ(vole::select(on_recv(nil), on_send(nil, 1), on_default()), 2u);
    EXPECT_EQ(vole::select(on_recv(nil), on_send(c, 1), on_send(nil, 1)), 1u);
    EXPECT_EQ(vole::select(on_recv(nil), on_after(50us), on_send(nil, 2)), 1u);
  });
}

TEST_P(Select, AfterIsTakenNotEarlier) {
  on_both([] {
    const chan<int> c;
    for (const vole::duration d : {vole::duration(-1h), vole::duration(0), vole::duration(2ms)}) {
      const auto start = vole::now();
      bool fired = false;
      EXPECT_EQ(vole::select(on_recv(c), on_after(1h), on_after(d, [&] { fired = true; })), 2u);
      EXPECT_TRUE(fired);
      EXPECT_GE(vole::now() - start, d);
      EXPECT_EQ(vole::select(on_after(vole::duration::max()), on_after(d)), 1u);
    }
    EXPECT_EQ(vole::select(on_after(1h), on_default()), 1u);
    const chan<int> ready(1);
    ready.send(1);
    EXPECT_EQ(vole::select(on_after(-1h), on_recv(ready)), 1u) << "what is ready comes first";
  });
}

TEST_P(Select, TheSameChannelTwice) {
  run([] {
    const chan<int> c;
    vole::wait_group done;
    std::array<int, 4> taken{};
    for (int i = 0; i < 40; ++i) {
      done.go([&] { ++taken[vole::select(on_recv(c), on_recv(c), on_send(c, 1), on_recv(c))]; });
      if (i % 2 == 0) wait_until_parked(1, "select");
      i % 4 < 2 ? c.send(i) : (void)c.recv();
      done.wait();
    }
    EXPECT_EQ(taken[0] + taken[1] + taken[3], 20);
    EXPECT_EQ(taken[2], 20);
  });
}

// Go's TestSelectFairness and selfselect, in our words.
TEST_P(Select, IsFair) {
  on_both([] {
    const chan<int> a(1), b(1), c(1), d(1);
    a.send(0), b.send(0), c.send(0), d.send(0);
    std::array<int, 4> taken{};
    constexpr int kRounds = 8000;
    for (int i = 0; i < kRounds; ++i) {
      const auto k = vole::select(on_recv(a), on_recv(b), on_recv(c), on_recv(d));
      ++taken.at(k);
      (k == 0 ? a : k == 1 ? b : k == 2 ? c : d).send(0);
    }
    double chi = 0;
    for (const int n : taken) chi += (n - kRounds / 4.0) * (n - kRounds / 4.0) / (kRounds / 4.0);
    EXPECT_LT(chi, 40) << taken[0] << ' ' << taken[1] << ' ' << taken[2] << ' ' << taken[3];
  });
}

TEST_P(Select, NeverReceivesFromItself) {
  run([] {
    for (const std::size_t capacity : {0u, 10u}) {
      const chan<int> c(capacity);
      vole::wait_group done;
      for (int who = 0; who < 2; ++who)
        done.go([=] {
          for (int i = 0; i < 500; ++i) {  // each meeting is one round of both
            std::optional<int> v;
            if (i % 2 == 0) {
              vole::select(on_send(c, who), on_recv(c, v));
            } else {
              vole::select(on_recv(c, v), on_send(c, who));
            }
            if (v && c.capacity() == 0) {
              EXPECT_EQ(v, 1 - who);
            }
          }
        });
      done.wait();
    }
  });
}

TEST_P(Select, CloseOfASelectedChannel) {
  run([] {
    for (int round = 0; round < 20; ++round) {
      const chan<int> in, out, never;
      vole::wait_group done;
      done.go([&] {
        std::optional<int> v = 9;
        EXPECT_EQ(vole::select(on_recv(never), on_recv(in, v), on_after(1h)), 1u);
        EXPECT_FALSE(v);
      });
      done.go([&] {
        EXPECT_THROW(vole::select(on_send(out, 1), on_recv(never)), vole::channel_closed);
      });
      std::thread plain([&] {
        EXPECT_EQ(vole::select(on_recv(in), on_recv(never)), 0u);
        EXPECT_THROW(vole::select(on_recv(never), on_send(out, 1)), vole::channel_closed);
      });
      if (round % 2 == 0) wait_until_parked(2, "select");
      in.close();
      out.close();
      done.wait();
      plain.join();
    }
  });
}

}  // namespace
