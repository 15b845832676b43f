// wait_group: a count and those who wait for zero.
//
// Who    any goroutine, any plain thread.
// Law    kWaiting is set by a waiter while the count is above zero, and cleared, together
//        with kLocked, by the done() that brought it to zero: that is its last touch of
//        the object, and only then does it wake them. So wait() may return on a word
//        of 0 alone: with kWaiting still set somebody is about to touch the object.
//        add() changes the count without the lock, always.
// Note   a waiter that finds count 0 and kWaiting queues as well: the releaser in
//        flight will wake it, too.
// Proof  tests/stress/wait_group_stress_test.cc; the destruction guarantee under
//        ASan and TSan.

#include <utility>

#include "sync/waitable.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

std::int32_t left(std::uint64_t word) noexcept { return static_cast<std::int32_t>(count_of(word)); }

// Locked. True: there is something to wait for, and kWaiting is set.
bool must_wait(waitable& s) noexcept {
  std::uint64_t seen = s.word.load(acquire);
  do {
    if ((seen & kWaiting) != 0) return true;
    if (left(seen) == 0) return false;
  } while (!s.word.compare_exchange_strong(seen, seen | kWaiting, acq_rel, acquire));
  return true;
}

[[gnu::noinline]] void wait_as_guest(waitable& s) noexcept {
  guest_waiter guest(&s, &unlink_waiter);
  rt::guest_enter();
  lock(s);
  const bool wait = must_wait(s);
  if (wait) rt::wait_queue::push_back(s.waiters, &guest.self);
  unlock(s);
  rt::guest_leave();
  if (wait) guest.sleep();
}

[[noreturn]] void reused() noexcept {
  fatal(
      "wait_group: add() while waiters of the round before are still being released. Begin the "
      "next round after every wait() has returned");
}

// The count has reached zero and somebody waits.
bool release_inside(waitable& s, std::uintptr_t, M* m) noexcept {
  lock(s);
  if (left(s.word.load(relaxed)) != 0) reused();
  wait_list waiting = std::exchange(s.waiters, {});
  unlock(s, [](std::uint64_t word) { return word & ~kWaiting; });
  while (waiter* const w = rt::wait_queue::pop_front(waiting)) rt::wake(m, w);
  return true;
}

}  // namespace

void wait_group_add_slow(waitable& s, std::uint64_t old, std::int32_t n) noexcept {
  const std::int64_t now = std::int64_t{left(old)} + n;
  if (now < 0) fatal("wait_group: negative count (more done() than add())");
  if (now > INT_MAX) fatal("wait_group: count overflow (above 2147483647)");
  if ((old & kWaiting) == 0) return;
  if (left(old) == 0) reused();
  if (now == 0) inside<&release_inside>(s);
}

void wait_group_wait_slow(waitable& s) noexcept {
  if (!rt::on_goroutine()) return wait_as_guest(s);
  M* const m = rt::enter();
  lock(s);
  if (!must_wait(s)) {
    unlock(s);
    return rt::leave(m);
  }
  rt::wait_queue::push_back(s.waiters, rt::self(m, &s, &unlink_waiter));
  rt::park(&unlock_after_switch, &s, rt::wait_reason::wait_group);
}

void wait_group_destroyed() noexcept {
  fatal(
      "wait_group: destroyed while its count is not zero or somebody waits. Call wait() before it "
      "goes out of scope");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
