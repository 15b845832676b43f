// Channels that lose their last handle while some wait on them, with a time limit that is over at
// about the same moment: goroutines and plain threads, alone and in selects over several channels.
// Every core ends once, with what it held.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "chan/core.h"
#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole::chan;
using vole::on_after;
using vole::on_recv;
using vole::on_send;

struct token {
  static inline std::atomic<int> alive{0};
  token() { ++alive; }
  token(token&& other) noexcept : spent(std::exchange(other.spent, true)) { ++alive; }
  ~token() { --alive; }
  bool spent = false;
};

constexpr std::size_t kChannels = 3;

// The cases of the party that wait on a channel: counted when they are over, and seen in its queue
// before. A case that is in neither has not begun.
struct party {
  std::vector<chan<token>> channels;
  std::atomic<std::size_t> over[kChannels] = {};
  std::size_t cases[kChannels] = {};

  bool has_begun(std::size_t i) {
    const std::size_t before = over[i];
    vole::detail::chan_core& c = *vole::detail::access::core(channels[i]);
    std::size_t n = 0;
    vole::rt::guest_enter_anywhere();
    c.lock.acquire();
    for (const auto* q : {&c.receivers, &c.senders})
      for (const auto* w = q->first; w != nullptr; w = w->next) ++n;
    c.lock.release();
    vole::rt::guest_leave();
    return before + n == cases[i];
  }
};

using plan = std::pair<std::size_t, std::chrono::microseconds>;  // what, and for how long

// Which channels: a bit each. 3 and above: a select.
void take_part(party& p, plan what) {
  const auto [kind, d] = what;
  chan<token>&a = p.channels[0], &b = p.channels[1], &full = p.channels[2];
  switch (kind) {
    case 0: (void)a.recv_for(d); break;
    case 1: (void)b.recv_for(d); break;
    case 2: (void)full.send_for(token(), d); break;
    case 3: vole::select(on_recv(a), on_recv(b), on_send(full, token()), on_after(d)); break;
    default: vole::select(on_recv(b), on_recv(a), on_after(d)); break;
  }
  if (kind == 0 || kind >= 3) ++p.over[0];
  if (kind == 1 || kind >= 3) ++p.over[1];
  if (kind == 2 || kind == 3) ++p.over[2];
}

void count(party& p, std::size_t kind) {
  if (kind == 0 || kind >= 3) ++p.cases[0];
  if (kind == 1 || kind >= 3) ++p.cases[1];
  if (kind == 2 || kind == 3) ++p.cases[2];
}

VOLE_STRESS(Orphan);

void one_round(vole_test::dice& dice) {
  party p;
  p.channels = {chan<token>(), chan<token>(), chan<token>(1)};
  p.channels[2].send({});
  const std::size_t threads = dice.below(8) == 0 ? 1 : 0;
  std::vector<plan> plans(1 + dice.below(5) + threads);
  for (plan& each : plans) {
    each = {dice.below(5), std::chrono::microseconds(dice.below(1000))};
    count(p, each.first);
  }
  vole::wait_group done;
  std::vector<std::thread> plain;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (i < threads) {
      plain.emplace_back([&p, what = plans[i]] { take_part(p, what); });
    } else {
      done.go([&p, what = plans[i]] { take_part(p, what); });
    }
  }
  // Sometimes one of them is served, and its others are left to be found in the queues.
  const bool serves = dice.below(2) == 0;
  for (std::size_t i = 0; i < kChannels; ++i)
    while (!p.has_begun(i)) vole::yield();
  if (serves) (void)p.channels[dice.below(2)].try_send({});
  for (chan<token>& c : p.channels) c = nullptr;
  done.wait();
  for (std::thread& t : plain) t.join();
}

TEST_P(Orphan, EndsOnceWithTheLastWhoLeaves) {
  vole_test::dice dice(1);
  run([&dice] {
    token::alive = 0;
    for (const vole_test::time_limit limit(400ms); !limit.over();) one_round(dice);
    EXPECT_EQ(token::alive, 0);
  });
}

}  // namespace
