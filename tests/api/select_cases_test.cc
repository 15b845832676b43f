// select over a number of cases known at run time, and handlers that do more than return.

#include <vole/vole.h>

#include <any>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
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
using vole::select_case;

class SelectCases : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(SelectCases);

TEST_P(SelectCases, OneOfMany) {
  run([] {
    constexpr std::size_t kMany = 200;
    std::vector<chan<std::size_t>> channels;
    std::vector<select_case> cases;
    std::size_t got = 0;
    for (std::size_t i = 0; i < kMany; ++i) {
      channels.emplace_back(i % 2);
      cases.emplace_back(
          on_recv(channels.back(), [&](std::optional<std::size_t> v) { got += *v; }));
    }
    vole::wait_group done;
    done.go([&channels] {
      for (std::size_t i = 0; i < kMany; ++i) channels[i].send(i);
    });
    std::vector<int> taken(kMany);
    for (std::size_t i = 0; i < kMany; ++i) ++taken[vole::select(cases)];
    EXPECT_EQ(got, kMany * (kMany - 1) / 2);
    for (const int n : taken) EXPECT_EQ(n, 1);
    done.wait();
  });
}

TEST_P(SelectCases, OwnTheirArguments) {
  run([] {
    std::vector<select_case> cases;
    std::string seen;
    vole::recv_chan<std::string> out = nullptr;
    {
      const chan<std::string> c(1);
      out = c;
      std::string text = "a text that is too long to be kept inside a string object";
      cases.emplace_back(on_send(c, std::move(text), [p = std::make_unique<int>(3), &seen] {
        seen += std::to_string(*p);
      }));
      EXPECT_TRUE(text.empty()) << "a case owns its value at once";
    }
    EXPECT_EQ(vole::select(cases), 0u);
    EXPECT_EQ(seen, "3");
    EXPECT_EQ(out.recv(), "a text that is too long to be kept inside a string object");
  });
}

TEST_P(SelectCases, ATakenSendIsSpent) {
  run([] {
    const chan<std::unique_ptr<int>> c(10);
    const chan<std::string> s(10);
    std::vector<select_case> cases;
    for (int i = 0; i < 3; ++i) cases.emplace_back(on_send(c, std::make_unique<int>(i)));
    cases.emplace_back(on_send(s, "x"));
    cases.emplace_back(on_default());
    std::vector<int> taken(5);
    for (int i = 0; i < 20; ++i) ++taken[vole::select(cases)];
    EXPECT_EQ(taken, (std::vector{1, 1, 1, 1, 16}));
    EXPECT_EQ(c.size(), 3u);
    EXPECT_EQ(s.size(), 1u);
    c.close();
    EXPECT_EQ(vole::select(cases), 4u) << "a spent case does not see the close either";
  });
}

TEST_P(SelectCases, AnUntakenSendKeepsItsValue) {
  run([] {
    const chan<std::unique_ptr<int>> c;
    std::vector<select_case> cases;
    cases.emplace_back(on_send(c, std::make_unique<int>(4)));
    cases.emplace_back(on_after(100us));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(vole::select(cases), 1u);
    vole::wait_group done;
    done.go([c] { EXPECT_EQ(**c.recv(), 4); });
    while (vole::select(cases) != 0) {
    }
    done.wait();
    c.close();
    std::vector<select_case> late;
    late.emplace_back(on_send(c, std::make_unique<int>(5)));
    EXPECT_THROW(vole::select(late), vole::channel_closed);
    EXPECT_THROW(vole::select(late), vole::channel_closed) << "not spent: it was not taken";
  });
}

TEST_P(SelectCases, MoveAndSurviveAVector) {
  run([] {
    const chan<int> c(1);
    select_case first = on_recv(c);
    select_case second = std::move(first);
    first = on_default();
    std::vector<select_case> cases;
    cases.push_back(std::move(second));
    cases.push_back(std::move(first));
    EXPECT_EQ(vole::select(cases), 1u);
    c.send(1);
    EXPECT_EQ(vole::select(cases), 0u);
  });
}

TEST_P(SelectCases, OnAPlainThread) {
  const chan<int> c(1), d;
  std::thread([=] {
    int sum = 0;
    std::vector<select_case> cases;
    cases.emplace_back(on_recv(c, [&](std::optional<int> v) { sum += *v; }));
    cases.emplace_back(on_recv(d, [&](std::optional<int> v) { sum += *v; }));
    cases.emplace_back(on_after(1h));
    std::thread peer([=] { c.send(1), d.send(2), c.send(3); });
    for (int i = 0; i < 3; ++i) EXPECT_LT(vole::select(cases), 2u);
    peer.join();
    EXPECT_EQ(sum, 6);
  }).join();
}

TEST_P(SelectCases, WhatAHandlerThrowsLeavesSelect) {
  run([] {
    const chan<std::unique_ptr<int>> c(2);
    const auto fail = [] { throw std::runtime_error("handler"); };
    EXPECT_THROW(vole::select(on_send(c, std::make_unique<int>(1), fail)), std::runtime_error);
    EXPECT_EQ(c.size(), 1u) << "the send was taken all the same";
    EXPECT_THROW(vole::select(on_recv(c, fail)), std::runtime_error);
    EXPECT_EQ(c.size(), 0u);
    EXPECT_THROW(vole::select(on_default(fail)), std::runtime_error);
    EXPECT_THROW(vole::select(on_recv(c), on_after(10us, fail)), std::runtime_error);
    std::vector<select_case> cases;
    cases.emplace_back(on_send(c, std::make_unique<int>(2), fail));
    cases.emplace_back(on_default());
    EXPECT_THROW(vole::select(cases), std::runtime_error);
    EXPECT_EQ(vole::select(cases), 1u) << "spent";
    EXPECT_EQ(**c.recv(), 2);
  });
}

TEST_P(SelectCases, HandlersMayParkAndSelectAgain) {
  run([] {
    const chan<int> in, inner(1), out;
    vole::wait_group done;
    done.go([=] {
      for (int i = 0; i < 100; ++i) in.send(i);
      in.close();
    });
    done.go([=] {
      bool more = true;
      while (more)
        vole::select(on_recv(in,
                             [&](std::optional<int> v) {
                               if (!v) return out.close(), void(more = false);
                               inner.send(*v);
                               vole::yield();
                               vole::select(on_recv(inner, [&](std::optional<int> w) {
                                 out.send(*w + 1);  // parks
                                 in.capacity();     // the same channel: no lock is held
                               }));
                             }),
                     on_after(1h));
    });
    int next = 1;
    for (const int v : out) EXPECT_EQ(v, next++);
    EXPECT_EQ(next, 101);
    done.wait();
  });
}

TEST_P(SelectCases, WithoutCasesIsForEver) {
  run([] {
    vole::go([] { vole::select(); });
    vole::go([] { vole::select(std::span<select_case>()); });
    vole_test::wait_until_parked(2, "select (no cases)");
    vole::go([] { vole::select(on_recv(chan<int>(nullptr)), on_send(chan<int>(nullptr), 1)); });
    vole_test::wait_until_parked(1, "select");
  });
}

// The waker of a select may have the whole house torn down behind it.
TEST_P(SelectCases, TheWokenMayDropTheLastReference) {
  run([] {
    for (int round = 0; round < 300; ++round) {
      auto a = std::make_unique<chan<int>>(), b = std::make_unique<chan<int>>();
      const auto *const ha = a.get(), *const hb = b.get();
      vole::wait_group done;
      const auto sleeper = [&] {
        std::optional<int> v;
        EXPECT_EQ(vole::select(on_recv(*ha, v), on_send(*hb, 5), on_after(1h)),
                  static_cast<unsigned>(round) % 2);
        a.reset();
        b.reset();
      };
      std::thread plain;
      if (round % 10 == 0) {
        plain = std::thread(sleeper);
      } else {
        done.go(sleeper);
      }
      if (round % 4 < 2) vole::yield();
      round % 2 == 0 ? ha->send(round) : (void)hb->recv();
      done.wait();
      if (plain.joinable()) plain.join();
    }
  });
}

// A std::any can be made of anything, a std::optional<std::any> too.
TEST_P(SelectCases, AHandlerThatSaysAnyGetsTheValue) {
  run([] {
    const chan<std::any> c(4);
    for (int i = 1; i <= 4; ++i) c.send(i);
    int sum = 0;
    const auto add = [&sum](const std::any& v) { sum += std::any_cast<int>(v); };
    vole::select(on_recv(c, [&](std::any v) { add(v); }));
    vole::select(on_recv(c, [&](const std::any& v) noexcept { add(v); }));
    vole::select(on_recv(c, [&](std::optional<std::any> v) { add(*v); }));
    vole::select(on_recv(c, [&](auto v) { add(*v); }));
    EXPECT_EQ(sum, 10);
    c.close();
    vole::select(on_recv(c, [&](std::any v) { EXPECT_FALSE(v.has_value()); }));
  });
}

}  // namespace
