// The order that a channel makes between goroutines, as a race detector is told of it. Go's rules:
//
//     send -> its receive              close -> a receive that finds it closed
//     unbuffered: receive -> the return of its send
//     buffered:   the k-th receive -> the return of the (k + capacity)-th send
//     close against send is a race
//
// On an unbuffered channel the two meet: the second comes after the waiter it finds
// (arch/history.h), and wakes it, which then comes after the second. In a ring they do not meet. There
// each operation has a number, and the edge of the k-th is an address, two for each place of the ring
// and some more: a send's is released before the value lies in the ring and acquired by the receive of
// the same number, a receive's by the send `capacity` later. A goroutine that parks knows its number
// already if all before it in the queue do, and releases then. A waiter that gives up moves those
// behind it on; until the queue is empty they are served with an edge too many, from the waiter to its
// server.
//
// Who    chan/core.h, under the channel's lock, on the goroutine or thread that operates.
// Law    sent - received is the number of values in the ring. A timer's channel has no tags: a receiver
//        there comes after the goroutine that started the timer, and after no other.
// Proof  tests/races
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/race.h"
#include "gmp/waiter.h"
#if defined(VOLE_RACES)
#include "gmp/g.h"
#endif

namespace vole {
inline namespace v0 {
namespace detail {

#if defined(VOLE_RACES)
class chan_order {
 public:
  static std::size_t room_for(std::size_t capacity) noexcept { return 2 * places(capacity); }
  void begin(std::size_t capacity, const void* tags) noexcept {
    capacity_ = capacity;
    tags_ = static_cast<const char*>(tags);
  }

  void sends() noexcept {
    if (!is_clock()) base::race::reads(&closed_);
  }
  void is_closed_by_user() noexcept { base::race::writes(&closed_); }
  void closes() noexcept { base::race::release(&closed_); }
  void found_closed() noexcept { base::race::acquire(&closed_); }

  void sent() noexcept {  // into the ring
    if (is_clock()) return;
    const std::uint64_t n = sends_.n++;
    if (n >= capacity_) base::race::acquire(tag(receives_, n - capacity_));
    base::race::release(tag(sends_, n));
  }
  void sent_to(const rt::waiter* w) noexcept {  // straight to a receiver
    if (is_clock()) return;
    if (capacity_ == 0) return base::race::acquire(parked(w));
    const std::uint64_t n = sends_.n++;
    if (n >= capacity_) base::race::acquire(tag(receives_, n - capacity_));
    serve(receives_, w);
  }
  void received(const rt::waiter* w) noexcept {  // w: the sender who goes on; may be null
    if (is_clock()) return base::race::acquire(&closed_);
    if (capacity_ == 0) return base::race::acquire(parked(w));
    const std::uint64_t n = receives_.n++;
    base::race::acquire(tag(sends_, n));
    base::race::release(tag(receives_, n));
    if (w != nullptr) serve(sends_, w);
  }
  void parks(bool sends, bool is_first) noexcept {
    if (is_clock()) return base::race::acquire(&closed_);
    if (capacity_ == 0) return;
    side& s = sends ? sends_ : receives_;
    if (is_first) s = {s.n, 0, true};
    if (!(s.knows &= s.numbered < kNumbered)) return;
    base::race::release(tag(s, s.n + s.numbered++));
  }
  void gives_up(bool sends) noexcept {
    side& s = sends ? sends_ : receives_;
    s = {s.n, 0, false};
  }

  // Under the lock; first: who waits for the tick already.
  void starts_clock(const rt::waiter* first) noexcept {
    base::race::release(&closed_);
    for (const rt::waiter* w = first; w != nullptr; w = w->next)
      w->g != nullptr ? w->g->history.before_wake() : base::race::release(w->thread);
  }
  // Values still in the ring are destroyed by who comes after their senders.
  void ends() const noexcept {
    if (capacity_ == 0) return;
    for (std::uint64_t n = receives_.n; n != sends_.n; ++n) base::race::acquire(tag(sends_, n));
  }

 private:
  struct side {
    std::uint64_t n = 0;         // how many are over
    std::uint32_t numbered = 0;  // so many at the head of the queue know their number
    bool knows = true;           // all in the queue do
  };
  static constexpr std::uint32_t kNumbered = 64;

  // A multiple of the capacity: then an address that is used again orders nothing new.
  static std::size_t places(std::size_t capacity) noexcept {
    return capacity == 0 ? 0 : capacity + (kNumbered + capacity - 1) / capacity * capacity;
  }
  bool is_clock() const noexcept { return tags_ == nullptr; }
  const void* tag(const side& s, std::uint64_t n) const noexcept {
    return tags_ + n % places(capacity_) * 2 + (&s == &sends_ ? 0 : 1);
  }
  static const void* parked(const rt::waiter* w) noexcept {
    return w->g != nullptr ? w->g->history.waits() : static_cast<const void*>(w);
  }
  void serve(side& s, const rt::waiter* w) noexcept {
    const std::uint64_t n = s.n++;
    if (s.numbered != 0) {
      --s.numbered;
      return;
    }
    base::race::acquire(parked(w));
    base::race::release(tag(s, n));
  }

  const char* tags_ = nullptr;
  std::uint64_t capacity_ = 0;
  side sends_, receives_;
  char closed_ = 0;
};
#else
struct chan_order {
  static std::size_t room_for(std::size_t) noexcept { return 0; }
  static void begin(std::size_t, const void*) noexcept {}
  static void sends() noexcept {}
  static void is_closed_by_user() noexcept {}
  static void closes() noexcept {}
  static void found_closed() noexcept {}
  static void sent() noexcept {}
  static void sent_to(const rt::waiter*) noexcept {}
  static void received(const rt::waiter*) noexcept {}
  static void parks(bool, bool) noexcept {}
  static void gives_up(bool) noexcept {}
  static void starts_clock(const rt::waiter*) noexcept {}
  static void ends() noexcept {}
};
#endif

}  // namespace detail
}  // namespace v0
}  // namespace vole
