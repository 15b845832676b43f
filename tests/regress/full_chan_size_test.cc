// A full channel looked as if it had room, while senders were waiting.
//
//     receiver (lock held)              observer
//     pop the oldest: count = cap - 1
//                                       size(): cap - 1
//     push a waiting sender's value:
//     count = cap
//
// size() reads without the lock, and must read a state that existed. Fixed in
// chan/core.h: the one slot is swapped, and the count stays.

#include <vole/vole.h>

#include <atomic>
#include <thread>

#include "../api/fixture.h"
#include "../api/parked.h"

namespace {

class FullChanSize : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(FullChanSize);

// The observer needs time to look.
struct slow {
  slow() = default;
  slow(slow&&) noexcept {
    for (int i = 0; i < 2000; ++i) looked_at_ = i;
  }

 private:
  volatile int looked_at_ = 0;
};

TEST_P(FullChanSize, StaysTheCapacityWhileSendersWait) {
  constexpr std::size_t kSenders = 300;
  run([] {
    const vole::chan<slow> c(1);
    c.send(slow());
    vole::wait_group senders;
    for (std::size_t i = 0; i < kSenders; ++i) senders.go([c] { c.send(slow()); });
    vole_test::wait_until_parked(kSenders, "chan send");
    std::atomic<bool> watching{false}, over{false};
    std::thread observer([&, c] {
      while (!over) {
        ASSERT_EQ(c.size(), 1u);
        watching = true;
      }
    });
    while (!watching) vole::yield();
    for (std::size_t i = 0; i < kSenders; ++i) (void)c.recv();
    over = true;
    observer.join();
    senders.wait();
    (void)c.recv();
  });
}

}  // namespace
