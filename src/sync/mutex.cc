// mutex: Go's two modes.
//
// Normal: unlock() frees the mutex and wakes the first waiter, which competes with
// newcomers. A newcomer is running already and mostly wins; that is what makes the
// normal mode fast. The loser goes back to the head of the queue.
//
// Starving: a waiter that lost and has waited for more than 1 ms sets `starving`.
// From then on unlock() hands the mutex over to the first waiter, held all along;
// newcomers queue at the tail. The mode ends with the hand-over to the last waiter, or to
// one that has waited for less than 1 ms.
//
// Who    any goroutine, any plain thread.
// Law    starving => held. `woken`: one waiter is off the list and about to compete;
//        it clears the bit when it wins or queues again; meanwhile unlock() wakes
//        nobody. woken and starving are never set together.
//        held and starving do not change under one who holds both mutex and lock.
//        biased, the word is changed in sync/mutex_biased.cc only: take and unlock_alone find
//        it neither free nor theirs, and the lock revokes the bias.
//        An unlock() wakes a waiter that it has claimed (gmp/waiter.h), never one that gives up.
// Note   a waiter that gives up, by its clock or its context, is off the list or never was on it, and
//        has not been woken: a `woken` that an unlock() set is always used by the waiter it woke. A
//        mutex that was left `starving` is freed by its holder in the slow way, which ends that mode.
// Note   no spinning, by decision: on two cores a short spin (4 x 30 pauses) saves up to a
//        fifth of the time while both are ours, and costs a core when they are not.
// Note   with somebody waiting, unlock() is a checkpoint: a goroutine that locks and unlocks
//        in a loop would otherwise never notice that its slice is over.
// Proof  tests/model/mutex_model.cc, tests/stress/sync_stress_test.cc

#include "sync/mutex.h"

#include "gmp/waited_places.h"
#include "os/os.h"
#include "sched/wake_policy/contention.h"
#include "sync/misuse.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uint64_t kHeld = mutex_flag::held, kWoken = mutex_flag::woken,
                        kStarving = mutex_flag::starving, kBiased = mutex_flag::biased;
constexpr std::int64_t kStarvingAfter = 1000 * 1000;  // ns

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(mutex_waitable, word) == rt::kLockWordAt &&
              offsetof(mutex_waitable, locker) == rt::kLockerAt && kHeld == rt::kLockHeld);
#pragma GCC diagnostic pop

void push_front(wait_list& l, waiter* w) noexcept {
  w->prev = nullptr;
  w->next = l.first;
  (l.first != nullptr ? l.first->prev : l.last) = w;
  l.first = w;
}

// Somebody on another core has changed the mutex since we looked.
void met_somebody() noexcept {
  if (M* const m = rt::this_m()) rt::note_contention(*m);
}

// It is ours, and was not when we came: the holder was running on another core.
void held_a_moment_ago(const mutex_attempt& mine) noexcept {
  if (mine.was_held && !mine.queued) met_somebody();
}

// Takes it if it is free. If not, adds `otherwise` to the word: with the lock held, the flags that say
// that we are about to queue.
bool take(waitable& s, const mutex_attempt& mine, std::uint64_t otherwise) noexcept {
  std::uint64_t seen = s.word.load(relaxed);
  for (;;) {
    const bool free = (seen & (kHeld | kStarving | kBiased)) == 0;
    if (!free && otherwise == 0) return false;
    const std::uint64_t rest = mine.queued ? seen & ~kWoken : seen;
    if (s.word.compare_exchange_strong(seen, rest | (free ? kHeld : otherwise), acquire, relaxed))
      return free;
    met_somebody();
  }
}

// True: it is ours after all. False: queue.
bool take_locked(waitable& s, mutex_attempt& mine) noexcept {
  const std::int64_t now = os::now_ns();
  if (!mine.queued) mine.since = now;
  const bool starving = mine.queued && now - mine.since > kStarvingAfter;
  return take(s, mine, kWaiting | (starving ? kStarving : 0));
}

void queue_locked(waitable& s, mutex_attempt& mine, waiter* w) noexcept {
  w->slot = reinterpret_cast<void*>(mine.since);
  if (mine.queued) {
    push_front(s.waiters, w);
  } else {
    rt::wait_queue::push_back(s.waiters, w);
  }
  mine.queued = true;
}

std::int64_t waiting_since(const waiter* w) noexcept {
  return reinterpret_cast<std::int64_t>(w->slot);
}

void require_held(const waitable& s, std::uint64_t word) noexcept {
  if ((word & kHeld) == 0)
    misused("mutex", "unlock of an unlocked mutex", &s,
            "Each unlock() must follow a lock() or a successful try_lock(); std::lock_guard sees to that");
}

// Unlocks, unless somebody must be woken.
bool unlock_alone(waitable& s) noexcept {
  std::uint64_t seen = s.word.load(relaxed);
  for (;;) {
    require_held(s, seen);
    if (!mutex_flag::wakes_nobody(seen)) return false;
    if (s.word.compare_exchange_strong(seen, seen & ~kHeld, release, relaxed)) return true;
    met_somebody();
  }
}

struct release_result {
  waiter* w;  // to be woken
  std::uintptr_t value;
};

// waiter::unlink of a goroutine that was woken to compete, and abandoned with the runtime before it
// could: the next in the queue competes instead.
void pass_on(void* object, waiter* abandoned) noexcept {
  auto& s = *static_cast<waitable*>(object);
  lock(s);
  abandoned->object = nullptr;
  waiter* const next = rt::wait_queue::pop_claimed(s.waiters);
  unlock(s, [=, more = s.waiters.first != nullptr](std::uint64_t word) {
    return with_waiting(word & ~kWoken, more) | (next != nullptr ? kWoken : 0);
  });
  if (next != nullptr) rt::wake(nullptr, next, kCompete);
}

// Woken, it has competed, or is about to and cannot be abandoned before.
void nothing_to_pass_on(const mutex_attempt& mine) noexcept {
  rt::G* const g = rt::this_goroutine();
  if (mine.queued && g != nullptr) g->wait.object = nullptr;
}

struct turn : awaited {
  explicit turn(mutex_attempt& attempt) noexcept : mine(&attempt) {}
  static constexpr std::uintptr_t at_once = kOwner;
  static constexpr auto why = rt::wait_reason::mutex;
  M* enter(M* me) const noexcept {
    M* const m = rt::enter_as(me);
    nothing_to_pass_on(*mine);
    return m;
  }
  bool take_locked(waitable& s) const noexcept { return detail::take_locked(s, *mine); }
  void queue_locked(waitable& s, waiter* w) const noexcept { detail::queue_locked(s, *mine, w); }
  template <class Change>
  void unlock(waitable& s, M* m, Change change) const noexcept {
    detail::unlock(s, change);
    if (m != nullptr) held_a_moment_ago(*mine);
  }
  mutex_attempt* mine;
};

// Locked, and the mutex is ours. Gives up both.
release_result release_locked(waitable& s) noexcept {
  const std::uint64_t seen = s.word.load(relaxed);
  require_held(s, seen);
  const bool starving = (seen & kStarving) != 0;
  waiter* const w =
      starving || (seen & kWoken) == 0 ? rt::wait_queue::pop_claimed(s.waiters) : nullptr;
  const bool more = s.waiters.first != nullptr;
  if (w == nullptr || !starving) {
    if (w != nullptr && w->g != nullptr) {
      w->object = &s;
      w->unlink = &pass_on;
    }
    unlock(s, [=](std::uint64_t word) {
      return with_waiting(word & ~(kHeld | kStarving), more) | (w != nullptr ? kWoken : 0);
    });
    return {w, kCompete};
  }
  const bool calm = !more || os::now_ns() - waiting_since(w) < kStarvingAfter;
  static_cast<mutex_waitable&>(s).locker = stack_of(w);  // until it signs for itself
  unlock(s,
         [=](std::uint64_t word) { return with_waiting(calm ? word & ~kStarving : word, more); });
  return {w, kOwner};
}

// True: it was handed over to a goroutine.
bool release_inside(waitable& s, std::uintptr_t, M* m) noexcept {
  lock(s);
  const release_result r = release_locked(s);
  if (r.w == nullptr) return false;
  const bool handed_to_goroutine = r.value == kOwner && r.w->g != nullptr;
  rt::wake(m, r.w, r.value);
  return handed_to_goroutine;
}

}  // namespace

std::uintptr_t mutex_lock_slow(waitable& s, mutex_attempt& mine) noexcept {
  if (take(s, mine, 0)) {
    held_a_moment_ago(mine);
    nothing_to_pass_on(mine);
    return kOwner;
  }
  return wait_for(turn(mine), s);
}

void mutex_unlock_slow(waitable& s) noexcept {
  if (unlock_alone(s)) return;
  yield_to_new_owner(inside<&release_inside>(s));
}

void mutex_others_wait() noexcept { rt::checkpoint(); }

bool mutex_take_locked(waitable& s, mutex_attempt& mine) noexcept { return take_locked(s, mine); }
void mutex_queue_locked(waitable& s, mutex_attempt& mine, waiter* w) noexcept {
  queue_locked(s, mine, w);
}

void mutex_unlock_inside(waitable& s, M* m) noexcept {
  if (!unlock_alone(s)) release_inside(s, 0, m);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
