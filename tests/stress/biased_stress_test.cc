// Mutexes and channels that are one P's own, and not for long: bursts on one and then another,
// from goroutines that change Ps and from plain threads, while Ps are taken and their number
// changes.
//
// Law    what a mutex guards is plain memory, and so is what a channel of one place passes on: TSan
//        sees two who are in at once, the sums see one who was forgotten.
// Note   checked builds give a thing away after 16 turns; a mutex looks once in 256.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "stress.h"

namespace {

constexpr std::uint32_t kThings = 3, kGoroutines = 6, kPlainThreads = 2, kLongest = 1500;

struct guarded {
  vole::mutex m;
  long sum = 0;
  vole::condition_variable changed;
};

// One step of a burst: mostly lock and unlock, now and then in another way.
void step(guarded& g, vole_test::dice& d) {
  switch (d.below(200)) {
    case 0:
      while (!g.m.try_lock()) vole::yield();
      ++g.sum;
      g.m.unlock();
      return;
    case 1: {  // yields with the mutex held: others queue
      const std::lock_guard hold(g.m);
      vole::yield();
      ++g.sum;
      return;
    }
    case 2: {
      std::unique_lock hold(g.m);
      g.changed.wait_for(hold, std::chrono::microseconds(50));
      ++g.sum;
      return;
    }
    default:
      g.m.lock();
      ++g.sum;
      g.m.unlock();
  }
}

// work(stream) on goroutines and plain threads at once, and one more goroutine, in a runtime.
template <class Work, class Besides>
void everywhere(const Work& work, const Besides& besides) {
  vole::run([&] {
    vole::wait_group all;
    std::vector<std::thread> plain;
    for (std::uint32_t i = 0; i < kPlainThreads; ++i) plain.emplace_back([&, i] { work(i); });
    for (std::uint32_t i = 0; i < kGoroutines; ++i) all.go([&, i] { work(100 + i); });
    all.go(besides);
    all.wait();
    for (std::thread& t : plain) t.join();
  });
}

VOLE_STRESS(OwnedStress);

TEST_P(OwnedStress, MutexesPassFromOwnerToOwner) {
  std::array<guarded, kThings> things;
  std::atomic<long> done{0};
  const auto work = [&](std::uint64_t stream) {
    vole_test::dice d(stream);
    for (const vole_test::time_limit limit; !limit.over();) {
      guarded& g = things[d.below(kThings)];
      const std::uint32_t n = 1 + d.below(kLongest);
      for (std::uint32_t i = 0; i < n; ++i) step(g, d);
      done += n;
      vole::yield();
    }
  };
  everywhere(work, [] {
    vole_test::dice d(1000);
    const int procs = vole::max_procs();
    for (const vole_test::time_limit limit; !limit.over();) {
      vole::set_max_procs(1 + static_cast<int>(d.below(4)));
      vole::sleep_for(std::chrono::milliseconds(2));
    }
    vole::set_max_procs(procs);
  });
  long sum = 0;
  for (const guarded& g : things) sum += g.sum;
  EXPECT_EQ(sum, done);
}

TEST_P(OwnedStress, MutexesAreDestroyedByTheLastToUnlock) {
  vole::run([] {
    vole_test::dice d(7);
    for (const vole_test::time_limit limit; !limit.over();) {
      struct counted {
        vole::mutex m;
        int left = 2;
      };
      auto* const c = new counted;
      for (std::uint32_t i = 0, n = d.below(2 * kLongest); i < n; ++i) {
        c->m.lock();
        c->m.unlock();
      }
      const auto leave = [c] {
        c->m.lock();
        const bool last = --c->left == 0;
        c->m.unlock();
        if (last) delete c;
      };
      vole::wait_group both;
      both.go(leave);
      if (d.below(2) == 0) {
        both.go(leave);
      } else {
        leave();
      }
      both.wait();
    }
  });
}

// Tokens in channels of one place: none is lost, none is there twice.
TEST_P(OwnedStress, ChannelsPassFromOwnerToOwner) {
  struct token {
    long uses = 0;  // by who has it
  };
  std::array<vole::chan<token*>, kThings> places;
  std::array<token, kThings> tokens;
  std::atomic<long> done{0};
  for (std::uint32_t i = 0; i < kThings; ++i) {
    places[i] = vole::chan<token*>(1);
    places[i].send(&tokens[i]);
  }
  const auto use = [&](vole_test::dice& d, const vole::chan<token*>& place) {
    token* t = nullptr;
    if (d.below(100) == 0) {
      std::optional<token*> got;
      vole::select(vole::on_recv(place, got));
      t = *got;
    } else if (d.below(100) == 0) {
      const auto got = place.recv_for(std::chrono::microseconds(30));
      if (!got) return;
      t = *got;
    } else {
      t = *place.recv();
    }
    ++t->uses;
    ++done;
    place.send(t);
  };
  const auto work = [&](std::uint64_t stream) {
    vole_test::dice d(stream);
    for (const vole_test::time_limit limit; !limit.over();) {
      const auto& place = places[d.below(kThings)];
      for (std::uint32_t i = 0, n = d.below(200); i < n; ++i) use(d, place);
      vole::yield();
    }
  };
  everywhere(work, [] {});
  long sum = 0;
  for (const token& t : tokens) sum += t.uses;
  EXPECT_EQ(sum, done);
}

}  // namespace
