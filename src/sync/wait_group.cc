// wait_group: a count and those who wait for zero.
//
// Who    any goroutine, any plain thread.
// Law    word = count << 32 | flags. kLocked guards the waiter list. kWaiting is set
//        by a waiter while the count is above zero, and cleared, together with
//        kLocked, by the done() that brought it to zero: that is its last touch of
//        the object, and only then does it wake them. So wait() may return on a word
//        of 0 alone: with kWaiting still set somebody is about to touch the object.
// Note   a waiter that finds count 0 and kWaiting queues as well: the releaser in
//        flight will wake it, too.
// Proof  tests/stress/wait_group_stress_test.cc; the destruction guarantee under
//        ASan and TSan.

#include <vole/sync.h>

#include <climits>

#include "base/fatal.h"
#include "base/lock_order.h"
#include "base/system.h"
#include "gmp/waiter.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using namespace base;
using rt::M;
using rt::waiter;

constexpr std::uint64_t kLocked = 1, kSleepers = 2, kWaiting = 4;
constexpr int kSpins = 40;

std::int32_t count_of(std::uint64_t word) noexcept { return static_cast<std::int32_t>(word >> 32); }

// The flags' half of the word, for the futex.
atomic<std::uint32_t>* flags_of(wait_group_state& s) noexcept {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  return reinterpret_cast<atomic<std::uint32_t>*>(&s.word);
}

void lock(wait_group_state& s) noexcept {
  lock_order::taking(lock_rank::object);
  for (int spins = 0;; ++spins) {
    std::uint64_t seen = s.word.load(relaxed);
    if ((seen & kLocked) == 0) {
      if (s.word.compare_exchange_strong(seen, seen | kLocked, std::memory_order_acquire, relaxed))
        return;
    } else if (spins < kSpins) {
      cpu_relax();
    } else if ((seen & kSleepers) != 0 ||
               s.word.compare_exchange_strong(seen, seen | kSleepers, relaxed, relaxed)) {
      futex_wait(flags_of(s), static_cast<std::uint32_t>(seen | kSleepers));
    }
  }
}

// Clears kLocked and `also` in one store; the object may be gone right after.
void unlock(wait_group_state& s, std::uint64_t also = 0) noexcept {
  lock_order::releasing(lock_rank::object);
  atomic<std::uint32_t>* const address = flags_of(s);
  const std::uint64_t old =
      s.word.fetch_and(~(kLocked | kSleepers | also), std::memory_order_acq_rel);
  if ((old & kSleepers) != 0) futex_wake(address, INT_MAX);
}

void unlink(void* object, waiter* w) noexcept {
  auto& s = *static_cast<wait_group_state*>(object);
  lock(s);
  rt::wait_queue::remove(s.waiters, w);
  unlock(s, s.waiters.first == nullptr ? kWaiting : 0);
}

bool commit_wait(rt::G*, void* object) noexcept {
  unlock(*static_cast<wait_group_state*>(object));
  return true;
}

// Locked. True: there is something to wait for, and kWaiting is set.
bool must_wait(wait_group_state& s) noexcept {
  std::uint64_t seen = s.word.load(std::memory_order_acquire);
  do {
    if ((seen & kWaiting) != 0) return true;
    if (count_of(seen) == 0) return false;
  } while (!s.word.compare_exchange_strong(seen, seen | kWaiting, std::memory_order_acq_rel,
                                           std::memory_order_acquire));
  return true;
}

[[gnu::noinline]] void wait_as_guest(wait_group_state& s) noexcept {
  rt::guest_note sleeper;
  waiter w;
  w.thread = &sleeper;
  w.object = &s;
  w.unlink = &unlink;
  rt::guest_enter();
  lock(s);
  const bool wait = must_wait(s);
  if (wait) rt::wait_queue::push_back(s.waiters, &w);
  unlock(s);
  rt::guest_leave();
  if (wait) sleeper.woken.sleep();
}

[[noreturn]] void reused() noexcept {
  fatal(
      "wait_group: add() while waiters of the round before are still being released. Begin the "
      "next round after every wait() has returned");
}

// The count has reached zero and somebody waits.
void release_waiters(wait_group_state& s, M* m) noexcept {
  lock(s);
  const std::uint64_t word = s.word.load(relaxed);
  if (count_of(word) != 0) reused();
  wait_list waiting = std::exchange(s.waiters, {});
  unlock(s, kWaiting);
  while (waiter* const w = rt::wait_queue::pop_front(waiting)) rt::wake(m, w);
}

// For a goroutine that counted down to zero but was abandoned on its way in: those who wait on
// plain threads are released all the same.
void release_for_abandoned(void* object, waiter*) noexcept {
  release_waiters(*static_cast<wait_group_state*>(object), nullptr);
}

}  // namespace

void wait_group_add_slow(wait_group_state& s, std::uint64_t old, std::int32_t n) noexcept {
  const std::int64_t now = std::int64_t{count_of(old)} + n;
  if (now < 0) fatal("wait_group: negative count (more done() than add())");
  if (now > INT_MAX) fatal("wait_group: count overflow (above 2147483647)");
  if ((old & kWaiting) == 0) return;
  if (count_of(old) == 0) reused();
  if (now > 0) return;
  if (!rt::on_goroutine()) {
    rt::guest_enter();
    release_waiters(s, nullptr);
    return rt::guest_leave();
  }
  waiter& mine = arch::this_m()->curg->wait;  // a release is owed, should the runtime end first
  mine.unlink = &release_for_abandoned;
  mine.object = &s;
  M* const m = rt::enter();
  mine.object = nullptr;
  release_waiters(s, m);
  rt::leave(m);
}

void wait_group_wait_slow(wait_group_state& s) noexcept {
  if (!rt::on_goroutine()) return wait_as_guest(s);
  M* const m = rt::enter();
  lock(s);
  if (!must_wait(s)) {
    unlock(s);
    return rt::leave(m);
  }
  rt::wait_queue::push_back(s.waiters, rt::self(m, &s, &unlink));
  rt::park(&commit_wait, &s, rt::wait_reason::wait_group);
}

void wait_group_destroyed() noexcept {
  fatal(
      "wait_group: destroyed while its count is not zero or somebody waits. Call wait() before it "
      "goes out of scope");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
