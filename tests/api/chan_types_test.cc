// What may travel through a channel, how often it is moved, and where it dies.

// GCC has a note on every over-aligned value that is passed.
#pragma GCC diagnostic ignored "-Wpsabi"

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.h"
#include "parked.h"

namespace {

using vole::chan;
using vole::chan_status;

class ChanTypes : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(ChanTypes);

// Sends made(i) from a goroutine over each kind of channel and looks at what comes.
template <class T, class Make, class Check>
void travels(Make make, Check check) {
  for (const std::size_t capacity : {0u, 1u, 3u}) {
    const chan<T> c(capacity);
    vole::wait_group done;
    done.go([c, make] {
      for (int i = 0; i < 50; ++i) c.send(make(i));
      T last = make(50);
      while (c.try_send(std::move(last)) != chan_status::ok) vole::yield();
      EXPECT_EQ(c.send_for(make(51), std::chrono::hours(1)), chan_status::ok);
      vole::select(vole::on_send(c, make(52)));
      c.close();
    });
    for (int i = 0; i < 48; ++i) check(*c.recv(), i);
    for (bool got = false; !got; vole::yield()) {
      auto r = c.try_recv();
      if (r) check(*std::move(r), 48);
      got = static_cast<bool>(r);
    }
    check(*c.recv_for(std::chrono::hours(1)), 49);
    vole::select(vole::on_recv(c, [&](std::optional<T> v) { check(std::move(*v), 50); }));
    int next = 51;
    for (T v : c) check(std::move(v), next++);
    EXPECT_EQ(next, 53);
    done.wait();
  }
}

TEST_P(ChanTypes, MoveOnly) {
  run([] {
    using box = std::unique_ptr<int>;
    travels<box>([](int i) { return std::make_unique<int>(i); },
                 [](box b, int i) { EXPECT_EQ(*b, i); });
  });
}

struct no_default {
  explicit no_default(int n) : text(std::to_string(n)) {}
  const std::string text;  // so it cannot be assigned either
};

TEST_P(ChanTypes, NotDefaultConstructibleNotAssignable) {
  static_assert(!std::is_move_assignable_v<no_default>);
  run([] {
    travels<no_default>([](int i) { return no_default(i); },
                        [](no_default v, int i) { EXPECT_EQ(v.text, std::to_string(i)); });
    const chan<no_default> c(1);
    c.send(no_default(3));
    std::optional<no_default> out;
    EXPECT_EQ(vole::select(vole::on_recv(c, out)), 0u);
    EXPECT_EQ(out->text, "3");
  });
}

struct alignas(128) wide {
  explicit wide(int i) : n(i) {}
  int n;
  bool in_place() const { return reinterpret_cast<std::uintptr_t>(this) % 128 == 0; }
};

TEST_P(ChanTypes, OverAligned) {
  run([] {
    travels<wide>([](int i) { return wide(i); },
                  [](const wide& w, int i) {
                    EXPECT_EQ(w.n, i);
                    EXPECT_TRUE(w.in_place());
                  });
  });
}

struct big {
  explicit big(int i) { words.fill(i); }
  std::array<int, 500> words;
};

TEST_P(ChanTypes, Big) {
  run([] {
    travels<big>([](int i) { return big(i); },
                 [](const big& b, int i) {
                   for (const int w : b.words) ASSERT_EQ(w, i);
                 });
  });
}

struct may_throw {  // its move may throw, so it travels in a box
  explicit may_throw(int i) : text("number " + std::to_string(i)) {}
  may_throw(may_throw&& other) : text(std::exchange(other.text, "gone")) {
    if (text == "bomb") throw std::runtime_error("bomb");
  }
  std::string text;
};

TEST_P(ChanTypes, ThrowingMove) {
  run([] {
    travels<may_throw>(
        [](int i) { return may_throw(i); },
        [](const may_throw& v, int i) { EXPECT_EQ(v.text, "number " + std::to_string(i)); });
    const chan<may_throw> c(1);
    may_throw bomb(1);
    bomb.text = "bomb";
    EXPECT_THROW(c.send(std::move(bomb)), std::runtime_error) << "the parameter is the caller's";
    EXPECT_EQ(c.size(), 0u);
  });
}

TEST_P(ChanTypes, AFailedSendLeavesItsValueAlone) {
  run([] {
    using namespace std::chrono_literals;
    const auto leaves = [](auto value, auto check) {
      using T = decltype(value);
      const chan<T> c;
      EXPECT_EQ(c.try_send(std::move(value)), chan_status::would_block);
      check(value);
      EXPECT_EQ(c.send_for(std::move(value), 100us), chan_status::timeout);
      check(value);
      EXPECT_EQ(c.send_until(std::move(value), vole::time_point::min()), chan_status::timeout);
      EXPECT_EQ(vole::select(vole::on_send(c, std::move(value)), vole::on_default()), 1u);
      check(value);
      c.close();
      EXPECT_EQ(c.try_send(std::move(value)), chan_status::closed);
      EXPECT_EQ(c.send_for(std::move(value), 1h), chan_status::closed);
      check(value);
      EXPECT_THROW(vole::select(vole::on_send(c, std::move(value))), vole::channel_closed);
      check(value);
    };
    leaves(std::make_unique<int>(6), [](auto& p) { EXPECT_TRUE(p && *p == 6); });
    leaves(may_throw(4), [](auto& v) { EXPECT_EQ(v.text, "number 4"); });
  });
}

struct msg {
  int n = 0;
  chan<msg> reply = nullptr;
};

TEST_P(ChanTypes, AMessageMayCarryItsOwnChannel) {
  run([] {
    const chan<msg> requests;
    vole::wait_group done;
    done.go([requests] {
      for (msg m : requests) m.reply.send({m.n * 2, nullptr});
    });
    const chan<msg> replies(1);
    for (int i = 0; i < 20; ++i) {
      requests.send({i, replies});
      EXPECT_EQ(replies.recv()->n, 2 * i);
    }
    requests.close();
    done.wait();
  });
}

TEST_P(ChanTypes, EmptyMessages) {
  run([] {
    const chan<> done, tokens(2);
    vole::wait_group sent;
    sent.go([=] { done.send(); });
    EXPECT_TRUE(done.recv().has_value());
    sent.wait();
    tokens.send();
    EXPECT_EQ(tokens.try_send(), chan_status::ok);
    EXPECT_EQ(tokens.try_send(), chan_status::would_block);
    EXPECT_EQ(tokens.size(), 2u);
    tokens.close();
    EXPECT_TRUE(tokens.recv() && tokens.recv() && !tokens.recv());
  });
}

TEST_P(ChanTypes, IsAnInputRange) {
  static_assert(std::ranges::input_range<chan<int>>);
  static_assert(std::ranges::input_range<vole::recv_chan<std::unique_ptr<int>>>);
  static_assert(!std::ranges::forward_range<chan<int>>);
  run([] {
    const chan<std::unique_ptr<int>> c(5);
    for (int i = 0; i < 5; ++i) c.send(std::make_unique<int>(i));
    c.close();
    std::vector<std::unique_ptr<int>> all;
    for (auto v : c) all.push_back(std::move(v));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(*all[static_cast<std::size_t>(i)], i);
  });
}

// Counts who lives and how often one was moved.
struct counted {
  static inline std::atomic<int> alive, moves;
  counted() { ++alive; }
  counted(counted&&) noexcept { ++alive, ++moves; }
  ~counted() { --alive; }
};

TEST_P(ChanTypes, ValuesLeftInTheBufferDieWithTheChannel) {
  run([] {
    counted::alive = 0;
    {
      const chan<counted> c(3);
      for (int i = 0; i < 3; ++i) c.send(counted());
      (void)c.recv();
      c.send(counted());  // the ring has wrapped
      EXPECT_EQ(counted::alive, 3);
      c.close();
      EXPECT_EQ(counted::alive, 3);
    }
    EXPECT_EQ(counted::alive, 0);
    {
      const chan<may_throw> boxed(2);
      boxed.send(may_throw(1));  // LeakSanitizer watches
    }
  });
}

TEST_P(ChanTypes, RendezvousMovesStraightAcross) {
  run([] {
    counted::alive = 0;
    const chan<counted> c;
    vole::wait_group done;
    done.go([c] { EXPECT_TRUE(c.recv()); });
    vole_test::wait_until_parked(1, "chan receive");
    counted::moves = 0;
    c.send(counted());
    done.wait();
    EXPECT_EQ(counted::moves, 2) << "sender to receiver's slot, slot to optional";
    EXPECT_EQ(counted::alive, 0);
    done.go([c] { EXPECT_THROW(c.send(counted()), vole::channel_closed); });
    vole_test::wait_until_parked(1, "chan send");
    c.close();
    done.wait();
    EXPECT_EQ(counted::alive, 0);
  });
}

TEST_P(ChanTypes, TooLargeACapacityIsRefused) {
  EXPECT_THROW(chan<int>(SIZE_MAX), std::length_error);
  EXPECT_THROW(chan<int>(SIZE_MAX / 8 + 1), std::length_error);
}

}  // namespace
