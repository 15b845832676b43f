// shared_mutex: readers in the count, one writer in a flag, and a queue of each.
//
// Who    any goroutine, any plain thread.
// Law    with the lock free:
//          a writer waits  =>  somebody is inside;
//          readers wait    =>  a writer is inside or waits.
//        So a waiter is let in by a party that leaves, always by hand-over: the word
//        never says "free" while somebody waits.
//        `waiting` is set while a reader or a writer waits.
//        A party that leaves claims the waiters it lets in: one whose time is over, or whose
//        context was cancelled, is passed over.
// Note   unlock() lets in all readers that wait, and the last of them lets in the next
//        writer: neither side starves.
// Proof  tests/stress/sync_stress_test.cc

#include "gmp/waited_places.h"
#include "sync/bounded.h"
#include "sync/misuse.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uint64_t kWriter = shared_flag::writer, kReader = wait_flag::one;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(shared_waitable, word) == rt::kLockWordAt &&
              offsetof(shared_waitable, locker) == rt::kLockerAt && kWriter == rt::kLockHeld);
#pragma GCC diagnostic pop

bool anybody_waits(const shared_waitable& s) noexcept {
  return s.waiters.first != nullptr || s.readers.first != nullptr;
}

// Locked. Takes all readers off that wait and can be served; returns what they add to the word.
std::uint64_t let_readers_in_locked(shared_waitable& s, wake_list& go) noexcept {
  std::uint64_t inside = 0;
  for (; waiter* const w = rt::wait_queue::pop_claimed(s.readers); inside += kReader) go.add(w);
  return inside;
}

// Locked. The caller leaves as the last one inside, and nobody can come in without the lock. Lets in
// the side whose turn it is and frees the lock.
wake_list let_in_locked(shared_waitable& s, bool readers_first) noexcept {
  wake_list go;
  std::uint64_t inside = 0;
  if (readers_first) inside = let_readers_in_locked(s, go);
  if (inside == 0) {
    if (waiter* const w = rt::wait_queue::pop_claimed(s.waiters)) {
      s.locker = stack_of(w);
      go.add(w);
      inside = kWriter;
    } else {
      inside = let_readers_in_locked(s, go);
    }
  }
  unlock(s, [inside, more = anybody_waits(s)](std::uint64_t word) {
    return with_waiting(word & wait_flag::all & ~kWriter, more) | inside;
  });
  return go;
}

// w has given up, or the runtime has ended under it. If it was the writer that kept readers out, they
// may go in. At the end all goroutines among them are being taken off as well; so then only plain
// threads are let in, one by one.
void unlink_writer(void* object, waiter* w) noexcept {
  auto& s = *static_cast<shared_waitable*>(object);
  wake_list go;
  lock(s);
  const bool guests_only = !has_expired(w);
  if (w->object != nullptr) rt::wait_queue::remove(s.waiters, w);
  std::uint64_t more_readers = 0;
  if (s.waiters.first == nullptr && (s.word.load(relaxed) & kWriter) == 0) {
    for (waiter* r = s.readers.first; r != nullptr;) {
      waiter* const next = r->next;
      if (!guests_only || r->g == nullptr) {
        rt::wait_queue::remove(s.readers, r);
        if (rt::claim(r)) {
          go.add(r);
          more_readers += kReader;
        }
      }
      r = next;
    }
  }
  unlock(s, [&, more = anybody_waits(s)](std::uint64_t word) {
    return with_waiting(word, more) + more_readers;
  });
  go.wake_all(nullptr, 0);
}

void unlink_reader(void* object, waiter* w) noexcept {
  auto& s = *static_cast<shared_waitable*>(object);
  lock(s);
  if (w->object != nullptr) rt::wait_queue::remove(s.readers, w);
  unlock(s, [more = anybody_waits(s)](std::uint64_t word) { return with_waiting(word, more); });
}

// The two kinds of lockers, as the code below needs them.
struct writing {
  static wait_list& queue(shared_waitable& s) noexcept { return s.waiters; }
  // Locked. The word with us inside, or 0 if we must wait.
  static std::uint64_t entered(const shared_waitable&, std::uint64_t word) noexcept {
    return count_of(word) == 0 && (word & (kWriter | kWaiting)) == 0 ? word | kWriter : 0;
  }
  static constexpr auto unlink = &unlink_writer;
  static constexpr auto why = rt::wait_reason::shared_mutex_write;
};
struct reading {
  static wait_list& queue(shared_waitable& s) noexcept { return s.readers; }
  static std::uint64_t entered(const shared_waitable& s, std::uint64_t word) noexcept {
    return (word & kWriter) == 0 && s.waiters.first == nullptr ? word + kReader : 0;
  }
  static constexpr auto unlink = &unlink_reader;
  static constexpr auto why = rt::wait_reason::shared_mutex_read;
};

// Locked. True: we are in. False: queue, and `waiting` is set.
template <class Kind>
bool enter_locked(shared_waitable& s) noexcept {
  std::uint64_t seen = s.word.load(relaxed);
  for (;;) {
    const std::uint64_t in = Kind::entered(s, seen);
    if (s.word.compare_exchange_strong(seen, in != 0 ? in : seen | kWaiting, acq_rel, relaxed))
      return in != 0;
  }
}

template <class Kind>
struct entry : awaited {
  static constexpr auto unlink = Kind::unlink;
  static constexpr auto why = Kind::why;
  bool take_locked(shared_waitable& s) const noexcept { return enter_locked<Kind>(s); }
  void queue_locked(shared_waitable& s, waiter* w) const noexcept {
    rt::wait_queue::push_back(Kind::queue(s), w);
  }
  bool anybody_waits(const shared_waitable& s) const noexcept { return detail::anybody_waits(s); }
};

// A reader leaves. False: it is the last, and somebody waits.
bool leave_alone(shared_waitable& s) noexcept {
  std::uint64_t seen = s.word.load(relaxed);
  for (;;) {
    if (count_of(seen) == 0)
      misused("shared_mutex", "unlock_shared of a mutex that nobody has locked shared", &s,
              "Each unlock_shared() must follow a lock_shared(); after lock() call unlock(). "
              "std::shared_lock sees to that");
    if (count_of(seen) == 1 && (seen & kWaiting) != 0) return false;
    if (s.word.compare_exchange_strong(seen, seen - kReader, release, relaxed)) return true;
  }
}

// Locked; frees the lock.
wake_list leave_as_reader_locked(shared_waitable& s) noexcept {
  if (!leave_alone(s)) return let_in_locked(s, false);
  unlock(s);
  return {};
}
wake_list leave_as_writer_locked(shared_waitable& s) noexcept { return let_in_locked(s, true); }

template <wake_list (*LeaveLocked)(shared_waitable&) noexcept>
bool leave_inside(waitable& s, std::uintptr_t, M* m) noexcept {
  lock(s);
  wake_list go = LeaveLocked(static_cast<shared_waitable&>(s));
  const bool handed_over = go.has_goroutines();
  go.wake_all(m, 0);
  return handed_over;
}

}  // namespace

void shared_lock_slow(shared_waitable& s) noexcept { wait_for(entry<writing>(), s); }
void shared_lock_shared_slow(shared_waitable& s) noexcept { wait_for(entry<reading>(), s); }

bool shared_lock_until(shared_waitable& s, std::int64_t when) noexcept {
  return came_in_time(entry<writing>(), s, when);
}
bool shared_lock_shared_until(shared_waitable& s, std::int64_t when) noexcept {
  return came_in_time(entry<reading>(), s, when);
}
bool shared_lock_unless(shared_waitable& s, const context& ctx, std::error_code& error) noexcept {
  return came_before(entry<writing>(), s, ctx, error);
}
bool shared_lock_shared_unless(shared_waitable& s, const context& ctx,
                               std::error_code& error) noexcept {
  return came_before(entry<reading>(), s, ctx, error);
}

void shared_unlock_slow(shared_waitable& s) noexcept {
  if ((s.word.load(relaxed) & kWriter) == 0)
    misused("shared_mutex", "unlock of a mutex that is not locked (or is locked shared)", &s,
            "Each unlock() must follow a lock(); after lock_shared() call unlock_shared(). "
            "std::unique_lock and std::shared_lock see to that");
  yield_to_new_owner(inside<&leave_inside<&leave_as_writer_locked>>(s));
}

void shared_unlock_shared_slow(shared_waitable& s) noexcept {
  if (leave_alone(s)) return;
  yield_to_new_owner(inside<&leave_inside<&leave_as_reader_locked>>(s));
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
