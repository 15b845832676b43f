// Channels are linearizable: thousands of random short histories, each explained by the
// model in linear.h; and mutants of the channel whose histories are not.

#include <vole/vole.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "linear_party.h"
#include "stress.h"

namespace {

using linear::history;
using linear::operation;
using linear::result;
using linear::verb;
using vole_test::dice;

VOLE_STRESS(ChanLinear);

bool explained(const history& h, std::size_t capacity) {
  return linear::checker(h, capacity).explains();
}

// ── the checker itself ──

operation at(std::uint64_t called, std::uint64_t returned, verb what, int value,
             result how = result::ok) {
  return {what, how, value, called, returned};
}

TEST(LinearChecker, AcceptsWhatAChannelDoes) {
  EXPECT_TRUE(explained({at(1, 4, verb::send, 7), at(2, 3, verb::recv, 7)}, 0));
  EXPECT_TRUE(explained({at(1, 2, verb::send, 7), at(3, 4, verb::recv, 7)}, 1));
  EXPECT_TRUE(explained({at(1, 6, verb::send, 7), at(2, 5, verb::recv_for, 0, result::timeout),
                         at(3, 4, verb::recv, 7)},
                        0))
      << "the send may begin after the timeout";
  EXPECT_TRUE(explained({at(1, 4, verb::recv, 0, result::closed), at(2, 3, verb::close, 0)}, 2));
  EXPECT_TRUE(explained({at(1, 8, verb::send, 1), at(2, 9, verb::send, 2), at(3, 4, verb::recv, 2),
                         at(5, 6, verb::recv, 1)},
                        0))
      << "which of two concurrent sends is first?";
  EXPECT_TRUE(explained({at(1, 2, verb::send, 1), at(3, 8, verb::send, 2), at(4, 5, verb::size, 1),
                         at(6, 7, verb::recv, 1), at(9, 10, verb::size, 1)},
                        1));
}

TEST(LinearChecker, RefusesWhatItDoesNot) {
  EXPECT_FALSE(explained({at(1, 2, verb::send, 7), at(3, 4, verb::recv, 7)}, 0)) << "no rendezvous";
  EXPECT_FALSE(explained({at(1, 2, verb::recv, 7)}, 1)) << "from nowhere";
  EXPECT_FALSE(
      explained({at(1, 2, verb::send, 7), at(3, 4, verb::recv, 7), at(5, 6, verb::recv, 7)}, 1))
      << "twice";
  EXPECT_FALSE(explained({at(1, 2, verb::send, 1), at(3, 4, verb::send, 2), at(5, 6, verb::recv, 2),
                          at(7, 8, verb::recv, 1)},
                         2))
      << "out of order";
  EXPECT_FALSE(
      explained({at(1, 2, verb::send, 1), at(3, 4, verb::try_recv, 0, result::would_block)}, 1))
      << "it was there";
  EXPECT_FALSE(explained({at(1, 2, verb::try_send, 1, result::would_block)}, 1))
      << "there was room";
  EXPECT_FALSE(explained(
      {at(1, 2, verb::send, 1), at(3, 4, verb::close, 0), at(5, 6, verb::recv, 0, result::closed)},
      1))
      << "not drained";
  EXPECT_FALSE(explained({at(1, 2, verb::send, 1), at(3, 9, verb::send, 2), at(4, 5, verb::size, 1),
                          at(6, 7, verb::size, 0), at(8, 10, verb::recv, 1)},
                         1));
  EXPECT_FALSE(explained({at(1, 2, verb::close, 0), at(3, 4, verb::close, 0)}, 0))
      << "closed twice";
  EXPECT_FALSE(
      explained({at(1, 2, verb::send_for, 1, result::timeout), at(3, 4, verb::recv, 1)}, 0))
      << "a send that gave up is not received";
}

// ── the channel ──

TEST_P(ChanLinear, EveryHistoryIsExplained) {
  const vole_test::time_limit limit(std::chrono::milliseconds(1500));
  dice d(31);
  int histories = 0;
  vole::run([&] {
    while (!limit.over() && !HasFailure()) {
      const std::size_t capacity = d.below(3);
      const history h = linear::play<vole::chan<int>>(capacity, d, histories % 4 == 0);
      EXPECT_TRUE(explained(h, capacity)) << linear::to_text(h, capacity);
      ++histories;
    }
  });
  std::printf("%d histories\n", histories);
  expect_clean();
}

// ── mutants: a channel with one fault, now and then ──

enum class fault {
  none,
  loses_a_value,
  repeats_a_value,
  swaps_two,
  pretends_to_be_full,
  pretends_to_be_empty,
  forgets_at_close,
  counts_wrong,
  sends_later,
  takes_from_closed,
};

template <fault F>
class mutant {
 public:
  explicit mutant(std::size_t capacity) : c_(capacity) {}
  mutant(const mutant&) = delete;
  ~mutant() { later_.wait(); }

  void send(int v) const { c_.send(v); }
  vole::chan_status send_for(int v, vole::duration t) const { return c_.send_for(v, t); }
  vole::chan_status try_send(int v) const {
    if (F == fault::pretends_to_be_full && now_and_then()) return vole::chan_status::would_block;
    if (F == fault::takes_from_closed && closed_) return vole::chan_status::ok;
    if (F == fault::sends_later && now_and_then()) {
      later_.go([c = c_, v] { (void)c.try_send(v); });
      return vole::chan_status::ok;
    }
    return c_.try_send(v);
  }
  std::optional<int> recv() const {
    if (F == fault::forgets_at_close && closed_) return std::nullopt;
    if (const auto v = unwanted()) return *v;
    if (F == fault::loses_a_value && now_and_then()) (void)c_.recv();
    return remember(c_.recv());
  }
  vole::received<int> try_recv() const {
    if (F == fault::pretends_to_be_empty && now_and_then()) return {};
    if (const auto v = unwanted()) return {vole::chan_status::ok, v};
    auto r = c_.try_recv();
    r.value = remember(r.value);
    return r;
  }
  vole::received<int> recv_for(vole::duration t) const {
    if (const auto v = unwanted()) return {vole::chan_status::ok, v};
    return c_.recv_for(t);
  }
  void close() const {
    closed_ = true;
    c_.close();
  }
  std::size_t size() const {
    return c_.size() + (F == fault::counts_wrong && now_and_then() ? 1 : 0);
  }

 private:
  bool now_and_then() const { return calls_.fetch_add(1) % 4 == 3; }

  // A value that should not come now, if the fault is of that kind.
  std::optional<int> unwanted() const {
    const std::lock_guard hold(lock_);
    if (F == fault::repeats_a_value && last_ && now_and_then()) return last_;
    if (F != fault::swaps_two) return std::nullopt;
    if (kept_) return std::exchange(kept_, std::nullopt);
    if (c_.size() < 2) return std::nullopt;
    auto first = c_.try_recv(), second = c_.try_recv();
    if (!second) return first.value;
    kept_ = first.value;
    return second.value;
  }
  std::optional<int> remember(std::optional<int> v) const {
    const std::lock_guard hold(lock_);
    if (v) last_ = v;
    return v;
  }

  vole::chan<int> c_;
  mutable vole::wait_group later_;
  mutable std::mutex lock_;
  mutable std::optional<int> last_, kept_;
  mutable std::atomic<bool> closed_{false};
  mutable std::atomic<int> calls_{0};
};

// How many histories until one cannot be explained; 0: all could.
template <fault F>
int histories_to_catch(int most) {
  dice d(32 + static_cast<std::uint64_t>(F));
  int caught = 0;
  vole::run([&] {
    for (int n = 1; n <= most && caught == 0; ++n) {
      const std::size_t capacity = d.below(3);
      if (!explained(linear::play<mutant<F>>(capacity, d, false), capacity)) caught = n;
    }
  });
  return caught;
}

template <fault F>
void catches(const char* name) {
  const int n = histories_to_catch<F>(20000);
  std::printf("mutant %-22s caught after %d histories\n", name, n);
  EXPECT_GT(n, 0) << name;
}

TEST(LinearMutants, AreCaught) {
  catches<fault::loses_a_value>("loses a value");
  catches<fault::repeats_a_value>("repeats a value");
  catches<fault::swaps_two>("swaps two");
  catches<fault::pretends_to_be_full>("pretends to be full");
  catches<fault::pretends_to_be_empty>("pretends to be empty");
  catches<fault::forgets_at_close>("forgets at close");
  catches<fault::counts_wrong>("counts wrong");
  catches<fault::sends_later>("sends later");
  catches<fault::takes_from_closed>("takes from closed");
}

TEST(LinearMutants, TheirCommonTextIsNotCaught) {
  EXPECT_EQ(histories_to_catch<fault::none>(500), 0);
}

}  // namespace
