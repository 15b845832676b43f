// Two selects wait for each other for ever: each moves a value whose move locks a mutex that is
// biased to the other's P.
//
//     P 0, in a select                          P 1, in a select
//     enters all that it owns                   enters all that it owns
//     moves its value:                          moves its value:
//       b.lock(): P 1's own, so revoke it:        a.lock(): P 0's own, so revoke it:
//       wait until P 1 leaves                     wait until P 0 leaves
//
// Now a select enters its locks only, no mutexes. A thread that revokes a mutex waits for an owner that
// is inside that mutex, and such an owner runs no user code and waits for nobody.

#include <vole/vole.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "regress.h"

namespace {

constexpr int kOften = 20'000;  // then it is the P's own
constexpr auto kMeeting = std::chrono::milliseconds(20);

void use_often(vole::mutex& m) {
  for (int i = 0; i < kOften; ++i) {
    m.lock();
    m.unlock();
  }
}

struct meeting {
  vole::mutex own[2];
  std::atomic<int> owning{0}, moving{0};
  bool met = false;

  // Both are in their moves, unless one of them is kept from its core for too long.
  bool meet() {
    ++moving;
    const auto until = std::chrono::steady_clock::now() + kMeeting;
    while (moving != 2)
      if (std::chrono::steady_clock::now() > until) return false;
    return true;
  }
};

// Moved on its way into the channel, it locks the other's mutex.
struct curious {
  curious(meeting& m, int mine) : at(&m), i(mine) {}
  curious(curious&& other) noexcept : at(std::exchange(other.at, nullptr)), i(other.i) {
    if (!std::exchange(other.asks, false)) return;
    asks = false;
    if (!at->meet()) return;  // the other may be using its mutex
    const std::lock_guard lock(at->own[1 - i]);
    if (i == 0) at->met = true;
  }
  meeting* at;
  int i;
  bool asks = true;
};

void come(meeting& m, int i) {
  use_often(m.own[i]);
  ++m.owning;
  if (!vole_test::hog_until([&] { return m.owning == 2; }, kMeeting)) return;
  use_often(m.own[i]);
  const vole::chan<curious> c(1);
  vole::select(vole::on_send(c, curious(m, i)));
  EXPECT_TRUE(c.recv().has_value());
}

VOLE_AT_PROCS(TwoSelects, 2, 4);

TEST_P(TwoSelects, LockEachOthersMutexesInMoves) {
  int met = 0;
  for (vole_test::rounds r(40); r.next() && met < 5;) {
    meeting m;
    vole::run([&m] {
      vole::wait_group both;
      for (int i = 0; i < 2; ++i) both.go([&m, i] { come(m, i); });
      both.wait();
    });
    met += m.met ? 1 : 0;
  }
  RecordProperty("met", met);  // not expected: on a busy machine they may miss each other each time
}

}  // namespace
