// A select that waits on one channel in several cases always takes the first of them.
//
//     select: nothing is ready             sender
//       queues case 0, then case 1
//       in the channel's one queue
//       parks
//                                          serves who came first: case 0, always
//
// Go chooses evenly among the cases. The cases are queued in a random order now (enqueue_locked,
// src/chan/select.cc).

#include <vole/vole.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <thread>
#include <vector>

#include "regress.h"

namespace {

using vole::chan;
using vole::on_recv;
using vole::on_send;

constexpr int kRounds = 2000;

// Each of n was taken about as often: five standard deviations are exceeded once in a million times.
void expect_even(const std::vector<int>& taken) {
  const double p = 1.0 / static_cast<double>(taken.size());
  const double often = 5 * std::sqrt(kRounds * p * (1 - p));
  for (const int n : taken) EXPECT_NEAR(n, kRounds * p, often);
}

// Succeeds only when somebody waits already.
void send_to_one_who_waits(const chan<int>& c) {
  while (c.try_send(1) != vole::chan_status::ok) vole::yield();
}
void receive_from_one_who_waits(const chan<int>& c) {
  while (!c.try_recv()) vole::yield();
}

VOLE_AT_PROCS(SelectTakesTheFirstOfOneChannel, 1, 2);

TEST_P(SelectTakesTheFirstOfOneChannel, Receiving) {
  vole::run([] {
    const chan<int> c, other;
    auto counted = vole::spawn([&] {
      std::vector<int> taken(3);
      for (int i = 0; i < kRounds; ++i)
        ++taken[vole::select(on_recv(c), on_recv(c), on_recv(c), on_recv(other))];
      return taken;
    });
    for (int i = 0; i < kRounds; ++i) send_to_one_who_waits(c);
    expect_even(counted.join());
  });
}

TEST_P(SelectTakesTheFirstOfOneChannel, Sending) {
  vole::run([] {
    const chan<int> c;
    auto counted = vole::spawn([&] {
      std::vector<int> taken(2);
      for (int i = 0; i < kRounds; ++i) ++taken[vole::select(on_send(c, 1), on_send(c, 2))];
      return taken;
    });
    for (int i = 0; i < kRounds; ++i) receive_from_one_who_waits(c);
    expect_even(counted.join());
  });
}

TEST_P(SelectTakesTheFirstOfOneChannel, InManyCases) {
  vole::run([] {
    const chan<int> c;
    auto counted = vole::spawn([&] {
      std::vector<vole::select_case> cases;
      for (int i = 0; i < 20; ++i) cases.emplace_back(on_recv(c));
      std::vector<int> taken(cases.size());
      for (int i = 0; i < kRounds; ++i) ++taken[vole::select(cases)];
      return taken;
    });
    for (int i = 0; i < kRounds; ++i) send_to_one_who_waits(c);
    expect_even(counted.join());
  });
}

TEST_P(SelectTakesTheFirstOfOneChannel, OnAPlainThread) {
  vole::run([] {
    const chan<int> c;
    std::vector<int> taken(2);
    std::thread selects([&] {
      for (int i = 0; i < kRounds; ++i) ++taken[vole::select(on_recv(c), on_recv(c))];
    });
    for (int i = 0; i < kRounds; ++i) send_to_one_who_waits(c);
    selects.join();
    expect_even(taken);
  });
}

}  // namespace
