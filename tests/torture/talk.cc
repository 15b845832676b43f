// Goroutines that start, talk, choose and lock.

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

#include "torture.h"

namespace torture {
namespace {

using namespace std::chrono_literals;

struct broken : std::runtime_error {
  explicit broken(std::uint32_t n) : std::runtime_error("a leaf broke"), leaves(n) {}
  std::uint32_t leaves;
};

// A tree of goroutines; some leaves throw, and what they throw comes up through every join.
std::uint32_t grow(dice d, std::uint32_t depth) {
  if (depth == 0) {
    if (d.once_in(8)) throw broken(1);
    return 1;
  }
  std::vector<vole::join_handle<std::uint32_t>> children;
  for (std::uint32_t i = 1 + d.below(3); i > 0; --i)
    children.push_back(vole::spawn([child = d.fork(), depth] { return grow(child, depth - 1); }));
  if (d.once_in(2)) vole::yield();
  std::uint32_t leaves = 0, gone = 0;
  for (auto& c : children) try {
      leaves += c.join();
    } catch (const broken& b) {
      gone += b.leaves;
    }
  if (gone != 0) throw broken(leaves + gone);
  return leaves;
}

void tree(round&, dice& d) {
  const dice same = d.fork();
  const auto leaves = [&] {
    try {
      return grow(same, 4);
    } catch (const broken& b) {
      return b.leaves;
    }
  };
  const std::uint32_t first = leaves();
  MUST(first > 0 && first == leaves());  // chance is seeded, so the tree is the same one
}

// Each message arrives once; those of one sender arrive in order if one receives.
void channel(round&, dice& d) {
  struct message {
    std::uint32_t from = 0, number = 0;
    std::unique_ptr<std::uint32_t> check;  // a value that owns something
  };
  const std::uint32_t senders = 1 + d.below(6), receivers = 1 + d.below(4), n = 1 + d.below(200);
  const vole::chan<message> c(d.below(5));
  std::vector<std::atomic<std::uint32_t>> got(senders);
  vole::wait_group sent, received;
  for (std::uint32_t s = 0; s < senders; ++s)
    sent.go([&, s, mine = d.fork()]() mutable {
      for (std::uint32_t i = 0; i < n; ++i) {
        message m{s, i, std::make_unique<std::uint32_t>(s ^ i)};
        if (mine.once_in(4)) {
          while (c.send_for(std::move(m), mine.up_to_us(300)) != vole::chan_status::ok) {
          }
        } else {
          c.send(std::move(m));
        }
      }
    });
  for (std::uint32_t r = 0; r < receivers; ++r)
    received.go([&] {
      for (message m : c) {
        MUST(*m.check == (m.from ^ m.number));
        const std::uint32_t before = got[m.from].fetch_add(1);
        MUST(receivers > 1 || before == m.number);
      }
    });
  sent.wait();
  c.close();
  received.wait();
  for (const auto& g : got) MUST(g == n);
}

// What three send in every way there is to choose, one takes in every way there is.
void choose(round&, dice& d) {
  const vole::chan<int> a, b(1), c(3);
  const vole::chan<> stop;
  std::atomic<long> sum{0}, taken{0};
  vole::wait_group takers;
  for (int t = 0; t < 2; ++t)
    takers.go([&, mine = d.fork()]() mutable {
      for (bool over = false; !over;) {
        const auto take = [&](int v) { sum += v, ++taken; };
        vole::select(vole::on_recv(a, take), vole::on_recv(b, take), vole::on_recv(c, take),
                     vole::on_recv(stop, [&] { over = true; }),
                     vole::on_after(mine.up_to_us(500), [] {}));
      }
    });
  const int n = 100 + static_cast<int>(d.below(200));
  for (int i = 1; i <= n; ++i)
    vole::select(vole::on_send(a, i), vole::on_send(b, i), vole::on_send(c, i));
  while (taken < n) vole::yield();
  stop.close();
  takers.wait();
  MUST(sum == long{n} * (n + 1) / 2);
}

// Only one is inside; readers and writers never meet; whoever waits for a condition sees it.
void locks(round&, dice& d) {
  vole::mutex m;
  vole::shared_mutex s;
  vole::condition_variable changed;
  vole::semaphore three(3);
  int inside = 0, turns = 0;  // under m
  std::atomic<int> readers{0}, writers{0}, among_three{0};
  constexpr int kPlayers = 6, kTurns = 20;
  vole::wait_group all;
  for (int i = 0; i < kPlayers; ++i)
    all.go([&, i, mine = d.fork()]() mutable {
      for (int k = 0; k < kTurns; ++k) {
        {
          std::unique_lock hold(m);
          MUST(++inside == 1);
          if (mine.once_in(5)) vole::yield();
          --inside;
          changed.wait(hold, [&] { return turns % kPlayers == i; });
          ++turns;
          changed.notify_all();
        }
        if (mine.once_in(3)) {
          const std::lock_guard hold(s);
          MUST(++writers == 1 && readers == 0);
          vole::yield();
          --writers;
        } else {
          const std::shared_lock hold(s);
          ++readers;
          MUST(writers == 0);
          --readers;
        }
        three.acquire();
        MUST(++among_three <= 3);
        vole::checkpoint();
        --among_three;
        three.release();
      }
    });
  all.wait();
  MUST(turns == kPlayers * kTurns);
}

// What is a goroutine's own stays so, wherever it runs; what is made once is made once.
void own(round&, dice& d) {
  static vole::local<int> mine;
  vole::once first;
  std::atomic<int> made{0};
  vole::pool<std::vector<int>> vectors([] { return std::vector<int>(); });
  vole::wait_group all;
  for (int i = 0; i < 16; ++i)
    all.go([&, i, chance = d.fork()]() mutable {
      mine.get() = i;
      first.call([&] { ++made; });
      std::vector<int> v = vectors.get();
      v.assign(10, i);
      if (chance.once_in(2)) vole::sleep_for(chance.up_to_us(200));
      MUST(std::accumulate(v.begin(), v.end(), 0) == 10 * i);
      vectors.put(std::move(v));
      MUST(mine.get() == i && made == 1);
    });
  all.wait();
}

constexpr player kTalkers[] = {
    {"tree", tree}, {"channel", channel}, {"choose", choose}, {"locks", locks}, {"own", own},
};

}  // namespace

std::span<const player> talkers() { return kTalkers; }

}  // namespace torture
