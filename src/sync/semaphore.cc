// semaphore: permits in the count, and a queue of waiters that want some.
//
// Who    any goroutine, any plain thread.
// Law    with the lock free: somebody waits => the count is less than what the first
//        in the queue wants. So only a release can serve it, and by hand-over.
//        The waiter's slot: how many it wants.
// Note   while somebody waits the count changes under the lock only.
// Note   permits go to a waiter that was claimed for them (gmp/waiter.h), or stay: a request that its
//        clock or its context has ended first is passed over, and when it leaves the queue those
//        behind it may want less than it did.
// Proof  tests/stress/sync_stress_test.cc, tests/stress/sync_timed_stress_test.cc

#include "sync/bounded.h"
#include "sync/misuse.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uint64_t kMost = 0x7fffffff;

std::uint64_t wanted(const waiter* w) noexcept { return reinterpret_cast<std::uintptr_t>(w->slot); }
void* as_slot(std::int32_t n) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(n));
}

// Locked. True: taken. False: queue, and `waiting` is set.
bool take_locked(waitable& s, std::int32_t n) noexcept {
  const auto want = static_cast<std::uint64_t>(n);
  std::uint64_t seen = s.word.load(relaxed);
  for (;;) {
    const bool enough = (seen & kWaiting) == 0 && count_of(seen) >= want;
    const std::uint64_t next = enough ? seen - want * wait_flag::one : seen | kWaiting;
    if (s.word.compare_exchange_strong(seen, next, acq_rel, relaxed)) return enough;
  }
}

[[noreturn]] void too_many(const waitable& s) noexcept {
  misused("semaphore", "more than 2147483647 permits", &s,
          "Each release() must follow an acquire() of as many permits");
}

// Locked, and somebody waits. Adds n permits, serves the head of the queue, frees the lock.
// `guests_only`: stop at a goroutine.
wake_list serve_locked(waitable& s, std::uint64_t n, bool guests_only = false) noexcept {
  wake_list go;
  std::uint64_t free = count_of(s.word.load(relaxed)) + n;
  if (free > kMost) too_many(s);
  for (waiter* w = s.waiters.first; w != nullptr && wanted(w) <= free; w = s.waiters.first) {
    if (guests_only && w->g != nullptr) break;
    rt::wait_queue::remove(s.waiters, w);
    if (!rt::claim(w)) continue;
    free -= wanted(w);
    go.add(w);
  }
  unlock(s, [=, any = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word & wait_flag::all, any) | free << wait_flag::count_shift;
  });
  return go;
}

// Releases n unless somebody waits.
bool release_alone(waitable& s, std::uint64_t n) noexcept {
  std::uint64_t seen = s.word.load(relaxed);
  while ((seen & kWaiting) == 0) {
    if (count_of(seen) + n > kMost) too_many(s);
    if (s.word.compare_exchange_strong(seen, seen + n * wait_flag::one, acq_rel, relaxed))
      return true;
  }
  return false;
}

// True: some were handed over to a goroutine.
bool release_inside(waitable& s, std::uintptr_t n, M* m) noexcept {
  lock(s);
  if (release_alone(s, n)) {
    unlock(s);
    return false;
  }
  wake_list go = serve_locked(s, n);
  const bool handed_over = go.has_goroutines();
  go.wake_all(m, 0);
  return handed_over;
}

// w's time is over, or the runtime has ended under it: then the goroutines behind it are being
// taken off as well. The waiters that are left may want less than w did.
void unlink(void* object, waiter* w) noexcept {
  auto& s = *static_cast<waitable*>(object);
  lock(s);
  if (w->object == nullptr) return unlock(s);
  rt::wait_queue::remove(s.waiters, w);
  serve_locked(s, 0, !has_expired(w)).wake_all(nullptr, 0);
}

struct permits : awaited {
  explicit permits(std::int32_t wanted) noexcept : n(wanted) {}
  static constexpr auto unlink = &detail::unlink;
  static constexpr auto why = rt::wait_reason::semaphore;
  bool take_locked(waitable& s) const noexcept { return detail::take_locked(s, n); }
  void queue_locked(waitable& s, waiter* w) const noexcept {
    w->slot = as_slot(n);
    rt::wait_queue::push_back(s.waiters, w);
  }
  std::int32_t n;
};

}  // namespace

void semaphore_acquire_slow(waitable& s, std::int32_t n) noexcept {
  if (n != 0) wait_for(permits(n), s);
}

bool semaphore_acquire_unless(waitable& s, std::int32_t n, const context& ctx,
                              std::error_code& error) noexcept {
  return with_context(
      ctx, error, [&] { semaphore_acquire_slow(s, n); },
      [&](rt::interrupter& by) {
        return n == 0 || wait_interruptibly(permits(n), s, by) != rt::kCanceled;
      });
}

bool semaphore_acquire_until(waitable& s, std::int32_t n, std::int64_t when) noexcept {
  return n == 0 || came_in_time(permits(n), s, when);
}

void semaphore_release_slow(waitable& s, std::int32_t n) noexcept {
  const auto permits = static_cast<std::uintptr_t>(n);
  if (!release_alone(s, permits)) yield_to_new_owner(inside<&release_inside>(s, permits));
}

void semaphore_negative() noexcept {
  misused("semaphore", "a negative number of permits", nullptr,
          "To give permits back call release(), to take them acquire()");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
