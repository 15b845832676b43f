// A mutex that is biased to a P stays locked for ever after run(), or its lock() is fatal.
//
//     goroutine, in its critical section        run() ends
//                                               phase stopping; every P is taken
//     unlock(): the word says `biased`, and
//       we have no P: revokes the bias as a
//       guest: waits to be let in               it is asleep: a zombie
//                                               phase stopped
//       a zombie: sleeps for ever               the mutex is held by nobody
//
// Revoking needs no runtime, so it must not enter. The same fault had a second symptom: user code that
// runs inside the runtime already, the move of a value under a channel's lock, was told that it had
// entered twice.

#include <vole/vole.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "../api/fixture.h"

namespace {

constexpr int kOften = 20'000;  // then it is the P's own

void use_often(vole::mutex& m) {
  for (int i = 0; i < kOften; ++i) {
    m.lock();
    m.unlock();
  }
}

TEST(OwnedMutex, UnlockHappensWhileTheRuntimeEnds) {
  struct state {
    vole::mutex m;
    std::atomic<bool> inside{false}, over{false};
  };
  auto* const s = new state;  // the goroutine outlives the runtime
  vole::run([s] {
    vole::go([s] {
      use_often(s->m);
      s->m.lock();
      s->inside = true;
      while (!s->over) {
      }  // user code, until run() has returned
      s->m.unlock();  // and there it sleeps
    });
    while (!s->inside) vole::yield();
  });
  s->over = true;
  ASSERT_TRUE(vole_test::eventually([s] { return s->m.try_lock(); }));
  s->m.unlock();
}

struct locks_when_moved {
  static inline vole::mutex m;
  static inline long moves = 0;
  locks_when_moved() = default;
  locks_when_moved(locks_when_moved&&) noexcept {
    m.lock();
    ++moves;
    m.unlock();
    while (!m.try_lock()) {
    }
    m.unlock();
  }
};

TEST(OwnedMutex, MayBeLockedByAMoveUnderAChannelsLock) {
  vole::set_max_procs(1);
  vole::run([] {
    use_often(locks_when_moved::m);
    const vole::chan<locks_when_moved> c(1);
    for (int i = 0; i < 20; ++i) {
      c.send({});
      EXPECT_TRUE(c.recv().has_value());
      use_often(locks_when_moved::m);
    }
  });
  EXPECT_GE(locks_when_moved::moves, 40);
}

}  // namespace
