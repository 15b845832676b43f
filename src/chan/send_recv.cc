// Send and receive: each enters once, takes one lock, and makes one step (chan/core.h).

#include <vole/detail/left_behind.h>

#include "chan/core.h"
#include "os/os.h"
#include "sched/wake_policy/contention.h"
#include "sched/wait/place.h"
#include "sched/wait/deadline.h"
#include "sched/life/value_move.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using rt::wait_reason;

// The two directions of an operation, as the code below needs them.
struct sending {
  template <std::size_t Plain = kAny>
  [[gnu::always_inline]] static step try_locked(chan_core& c, void* value, waiter** w) noexcept {
    return send_locked<Plain>(c, value, w);
  }
  static chan_waiters& queue(chan_core& c) noexcept { return c.senders; }
  static constexpr auto unlink = &unlink_sender;
  static constexpr auto endlessly = &chan_send<kAny>;
  static constexpr auto why = wait_reason::chan_send;
  static constexpr auto why_nil = wait_reason::chan_send_nil;
};
struct receiving {
  template <std::size_t Plain = kAny>
  [[gnu::always_inline]] static step try_locked(chan_core& c, void* room, waiter** w) noexcept {
    return recv_locked<Plain>(c, room, w);
  }
  static chan_waiters& queue(chan_core& c) noexcept { return c.receivers; }
  static constexpr auto unlink = &unlink_receiver;
  static constexpr auto endlessly = &chan_recv<kAny>;
  static constexpr auto why = wait_reason::chan_recv;
  static constexpr auto why_nil = wait_reason::chan_recv_nil;
};

bool never(rt::G*, void*) noexcept { return true; }

template <class Direction>
std::uintptr_t wait_for_ever() noexcept {
  rt::refuse_in_value_move();
  if (!rt::on_goroutine()) os::park_forever();
  rt::enter();
  return rt::park(&never, nullptr, Direction::why_nil);
}

step step_of(std::uintptr_t value) noexcept {
  if (value == rt::kTimedOut) return step::wait;
  return (value & 1) != 0 ? step::done : step::closed;
}

constexpr std::int64_t kNever = rt::kNoTimer;

// The word that frees c's lock, once it is held.
using word = atomic<std::uint32_t>;

word* take(M* m, chan_core& c) noexcept {
  if (c.lock.held()) rt::note_contention(*m);
  return c.lock.take(rt::presence_of(m));
}

// On any thread, until `when`: step::wait says that the time was over first. 0: only tries.
template <class Direction>
[[gnu::noinline]] step operate_anywhere(chan_core& c, void* slot, std::int64_t when) noexcept {
  rt::place mine;
  M* const m = rt::enter_either();
  word* const by = m != nullptr ? take(m, c) : c.lock.acquire_word();
  waiter* other = nullptr;
  const step s = Direction::try_locked(c, slot, &other);
  if (s != step::wait || when == 0) {
    c.lock.free(by);
    if (s == step::wake) rt::wake(m, other, told(other, true));
    rt::leave_either(m);
    return s;
  }
  waiter* const self = mine.self(m, &c, Direction::unlink);
  self->slot = slot;
  if (m == nullptr) race::release(self);  // a goroutine's edge is the park
  rt::deadline clock;
  if (when != kNever) rt::arm(clock, m, self, when);
  enqueue_contested(c, Direction::queue(c), self);
  const std::uintptr_t told = mine.sleep_in_time(m, rt::by_freeing{by}, Direction::why, clock);
  if (told == rt::kTimedOut && self->object != nullptr) let_go_of_orphan(c, self);
  return step_of(told);
}

// ── on a goroutine, and no frame of ours ──
// The common path makes no call but the last one, so no register is saved for it, and no frame is
// returned through after the switch. The exceptions go on in functions of their own.

enum class patience { none, endless };

// All of them return what chan_send returns or, with patience::none, kNobody.
constexpr std::uintptr_t kClosed = 0, kPassed = 1, kNobody = 2;

std::uintptr_t result_of(step s) noexcept {
  if (s == step::wait) return kNobody;
  return s == step::closed ? kClosed : kPassed;
}

// Inside, the lock is held, and there is nobody to serve.
template <class Direction>
[[gnu::always_inline]] inline std::uintptr_t wait_inside(M* m, chan_core& c, void* slot,
                                                         word* by) noexcept {
  waiter* const self = rt::self(m, &c, Direction::unlink);
  self->slot = slot;
  c.order.parks(c.is_sending(Direction::queue(c)), Direction::queue(c).first == nullptr);
  rt::wait_queue::push_back(Direction::queue(c), self);
  return rt::park_freeing(by, Direction::why);
}

// Inside, the lock is held.
template <class Direction, patience Waits>
[[gnu::noinline]] std::uintptr_t operate_locked(M* m, chan_core& c, void* slot,
                                                word* by) noexcept {
  waiter* other = nullptr;
  const step s = Direction::try_locked(c, slot, &other);
  if (Waits == patience::endless && s == step::wait) return wait_inside<Direction>(m, c, slot, by);
  c.lock.free(by);
  if (s == step::wake) rt::wake(m, other, told(other, true));
  rt::leave(m);
  return result_of(s);
}

template <class Direction, patience Waits>
[[gnu::noinline]] std::uintptr_t operate_contended(M* m, chan_core& c, void* slot) noexcept {
  return operate_locked<Direction, Waits>(m, c, slot, take(m, c));
}

// The lock was our P's own until just now.
template <class Direction, patience Waits>
[[gnu::noinline]] std::uintptr_t operate_standing(M* m, chan_core& c, void* slot) noexcept {
  bias::exit_biased(rt::presence_of(m));
  return operate_locked<Direction, Waits>(m, c, slot, take(m, c));
}

// `by` is ours, but the lock has somebody else for its owner, or is to have us.
template <class Direction, patience Waits>
[[gnu::noinline]] std::uintptr_t operate_unsettled(M* m, chan_core& c, void* slot,
                                                   word* by) noexcept {
  c.lock.settle(rt::presence_of(m));
  return operate_locked<Direction, Waits>(m, c, slot, by);
}

template <class Direction, patience Waits>
[[gnu::noinline]] std::uintptr_t operate_without_p(chan_core& c, void* slot) noexcept {
  M* const m = rt::reenter();
  return operate_locked<Direction, Waits>(m, c, slot, take(m, c));
}

// Nil, or on a plain thread.
template <class Direction, patience Waits>
[[gnu::noinline]] std::uintptr_t operate_elsewhere(chan_core* c, void* slot) noexcept {
  constexpr bool waits = Waits == patience::endless;
  if (c == nullptr) {
    if (waits) return wait_for_ever<Direction>();
    end_if_left_behind();
    return kNobody;
  }
  return result_of(operate_anywhere<Direction>(*c, slot, waits ? kNever : 0));
}

// `freed`: somebody may sleep on it; or null. `other`: is still to be woken; or null.
[[gnu::noinline]] std::uintptr_t wake_and_leave(M* m, word* freed, waiter* other,
                                                std::uintptr_t result) noexcept {
  if (freed != nullptr) wake_sleeper_of(freed);
  if (other != nullptr) rt::wake(m, other, told(other, true));
  rt::leave(m);
  return result;
}

[[gnu::noinline]] std::uintptr_t attend_and_return(std::uintptr_t result) noexcept {
  rt::attend();
  return result;
}

// Inside, the lock is held.
template <class Direction, std::size_t Plain, patience Waits>
[[gnu::always_inline]] inline std::uintptr_t operate_inside(M* m, chan_core& c, void* slot,
                                                            word* by) noexcept {
  if constexpr (Plain == kAny) return operate_locked<Direction, Waits>(m, c, slot, by);
  waiter* other = nullptr;
  const step s = Direction::template try_locked<Plain>(c, slot, &other);
  if (Waits == patience::endless && s == step::wait) return wait_inside<Direction>(m, c, slot, by);
  if (s > step::wait) [[unlikely]] return operate_locked<Direction, Waits>(m, c, slot, by);
  const std::uintptr_t result = s == step::wait ? kNobody : kPassed;
  if (!c.lock.free_quietly(by)) [[unlikely]] return wake_and_leave(m, by, other, result);
  if (s == step::wake && !rt::try_wake_next(m, other, told(other, true))) [[unlikely]]
    return wake_and_leave(m, nullptr, other, result);
  if (!rt::try_leave(m)) [[unlikely]] return attend_and_return(result);
  return result;
}

// A lock that is not our P's own.
template <class Direction, std::size_t Plain, patience Waits>
[[gnu::noinline]] std::uintptr_t operate_by_word(M* m, chan_core& c, void* slot) noexcept {
  const taking t = c.lock.try_take_word(rt::presence_of(m));
  if (t == taking::held) [[unlikely]] return operate_contended<Direction, Waits>(m, c, slot);
  word* const by = c.lock.word();
  if (t == taking::unsettled) [[unlikely]]
    return operate_unsettled<Direction, Waits>(m, c, slot, by);
  return operate_inside<Direction, Plain, Waits>(m, c, slot, by);
}

template <class Direction, std::size_t Plain, patience Waits = patience::endless>
[[gnu::always_inline]] inline std::uintptr_t operate(chan_core* c, void* slot) noexcept {
  M* const m = rt::this_m();
  if (c == nullptr || m == nullptr) [[unlikely]]
    return operate_elsewhere<Direction, Waits>(c, slot);
  if (!rt::try_enter(m)) [[unlikely]] return operate_without_p<Direction, Waits>(*c, slot);
  presence& mine = rt::presence_of(m);
  if (!likely(c->lock.is_biased_to(mine)))
    return operate_by_word<Direction, Plain, Waits>(m, *c, slot);
  if (!c->lock.try_enter_biased(mine)) [[unlikely]] return operate_standing<Direction, Waits>(m, *c, slot);
  return operate_inside<Direction, Plain, Waits>(m, *c, slot, &mine.at);
}

// One attempt, on any thread.
template <class Direction, std::size_t Plain>
inline chan_status try_once(chan_core* c, void* slot) noexcept {
  const std::uintptr_t result = operate<Direction, Plain, patience::none>(c, slot);
  if (result == kNobody) return chan_status::would_block;
  return passed(result) ? chan_status::ok : chan_status::closed;
}

chan_status status_of(step s) noexcept {
  if (s == step::wait) return chan_status::timeout;
  return s == step::closed ? chan_status::closed : chan_status::ok;
}

// The nil channel, until `when`.
template <class Direction>
chan_status nil_until(std::int64_t when) noexcept {
  if (when > 0) rt::sleep_until_ns(when, Direction::why_nil);
  return chan_status::timeout;
}

template <class Direction>
chan_status operate_until(chan_core* c, void* slot, std::int64_t when) noexcept {
  if (when == kNever) {
    return passed(Direction::endlessly(c, slot)) ? chan_status::ok : chan_status::closed;
  }
  if (c == nullptr) return nil_until<Direction>(when);
  if (when <= os::now_ns()) {
    const chan_status s = try_once<Direction, kAny>(c, slot);
    return s == chan_status::would_block ? chan_status::timeout : s;
  }
  return status_of(operate_anywhere<Direction>(*c, slot, when));
}

}  // namespace

bool chan_tick_inside(chan_core& c, M* m, void* value) noexcept {
  c.lock.acquire();
  waiter* other = nullptr;
  send_locked(c, value, &other);
  const bool left = c.is_left_locked();
  c.lock.release();
  if (other != nullptr) rt::wake(m, other, told(other, true));
  return left;
}

template <std::size_t Plain>
std::uintptr_t chan_send(chan_core* c, void* value) noexcept {
  return operate<sending, Plain>(c, value);
}
template <std::size_t Plain>
std::uintptr_t chan_recv(chan_core* c, void* room) noexcept {
  return operate<receiving, Plain>(c, room);
}
template <std::size_t Plain>
chan_status chan_try_send(chan_core* c, void* value) noexcept {
  return try_once<sending, Plain>(c, value);
}
template <std::size_t Plain>
chan_status chan_try_recv(chan_core* c, void* room) noexcept {
  return try_once<receiving, Plain>(c, room);
}

#define VOLE_FOR_VALUES_OF(PLAIN)                                            \
  template std::uintptr_t chan_send<PLAIN>(chan_core*, void*) noexcept;      \
  template std::uintptr_t chan_recv<PLAIN>(chan_core*, void*) noexcept;      \
  template chan_status chan_try_send<PLAIN>(chan_core*, void*) noexcept;     \
  template chan_status chan_try_recv<PLAIN>(chan_core*, void*) noexcept;
VOLE_FOR_VALUES_OF(kAny)
VOLE_FOR_VALUES_OF(1)
VOLE_FOR_VALUES_OF(4)
VOLE_FOR_VALUES_OF(8)
#undef VOLE_FOR_VALUES_OF

chan_status chan_send_until(chan_core* c, void* value, std::int64_t when) noexcept {
  return operate_until<sending>(c, value, when);
}
chan_status chan_recv_until(chan_core* c, void* room, std::int64_t when) noexcept {
  return operate_until<receiving>(c, room, when);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
