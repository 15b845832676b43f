// once: one caller runs the function, and the others wait for it.
//
// Who    any goroutine, any plain thread.
// Law    not done and not running => nobody waits. The end of a run that counts lets all
//        go; of one that does not, the first waiter takes the turn over, `running`
//        all along.
// Proof  tests/api/once_test.cc, tests/stress/sync_stress_test.cc

#include "sync/waiting.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uint64_t kRunning = once_flag::running, kDone = once_flag::done;
constexpr std::uintptr_t kIsDone = 0, kYourTurn = 1;  // wake values

enum class step { done, ours, wait };

// Locked. The word changes under the lock only.
step begin_locked(waitable& s) noexcept {
  const std::uint64_t seen = s.word.load(acquire);
  if ((seen & kDone) != 0) return step::done;
  const bool wait = (seen & kRunning) != 0;
  s.word.fetch_or(wait ? kWaiting : kRunning, relaxed);
  return wait ? step::wait : step::ours;
}

struct turn : awaited {
  static constexpr auto why = rt::wait_reason::once;
  bool take_locked(waitable& s) noexcept {
    const step next = begin_locked(s);
    at_once = next == step::ours ? kYourTurn : kIsDone;
    return next != step::wait;
  }
  std::uintptr_t at_once = kIsDone;
};

// Locked; frees the lock.
wake_list end_locked(waitable& s, bool done) noexcept {
  wake_list go;
  do {
    waiter* const w = rt::wait_queue::pop_front(s.waiters);
    if (w == nullptr) break;
    go.add(w);
  } while (done);
  const bool passed_on = !done && !go.empty();
  unlock(s, [=, any = s.waiters.first != nullptr](std::uint64_t word) {
    const std::uint64_t rest = passed_on ? word : word & ~kRunning;
    return with_waiting(rest, any) | (done ? kDone : 0);
  });
  return go;
}

bool end_inside(waitable& s, std::uintptr_t done, M* m) noexcept {
  lock(s);
  end_locked(s, done != 0).wake_all(m, done != 0 ? kIsDone : kYourTurn);
  return true;
}

}  // namespace

std::uintptr_t once_begin(waitable& s) noexcept { return wait_for(turn(), s); }

void once_end(waitable& s, bool done) noexcept { inside<&end_inside>(s, done ? 1 : 0); }

}  // namespace detail
}  // namespace v0
}  // namespace vole
