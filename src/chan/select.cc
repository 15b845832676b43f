// Select: one of many operations, on Go's three passes.
//
// Pass 1 looks for the first case, in a random order, that can be served. Each channel is locked when
// its turn comes, and stays locked: a select whose first channel is ready has locked one, and a select
// that finds none ready has locked them all, which is what pass 2 needs. This way no lock is waited
// for: a goroutine enters all locks that are its P's own (base/bias.h), tries the others, and leaves
// those of other Ps alone. If one is held (or a channel occurs twice), all are released and locked
// again in the order of their addresses.
// Pass 2 queues a waiter on every channel and parks; the commit unlocks. Pass 3 takes the waiters off
// the queues again.
//
// Law    one winner: the party that serves a waiter changes frame.winner from 0 first.
// Note   the frame lies on the sleeper's stack, and the sleeper may be woken as soon
//        as the commit has unlocked one channel. It stays alive until the commit is
//        done, because the last channel to be unlocked is locked again before the
//        frame goes: by pass 3 if that case lost, by its waker if it won. The clock of
//        an on_after case is one more waker.
// Proof  tests/model/select_model.cc, tests/stress/select_stress_test.cc

#include <functional>
#include <new>

#include <vole/detail/select_core.h>

#include "chan/core.h"
#include "chan/heap_sort.h"
#include "gmp/waited_places.h"
#include "os/os.h"
#include "sched/wait/place.h"
#include "sched/wait/p_timers.h"
#include "sched/life/value_move.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t kFew = 16;

// A random order of up to kFew cases, made as it is asked for. One random number does for four of
// them: evenly, but for a bias below kFew / 2^16.
class random_order {
 public:
  std::size_t next(std::size_t left, rand_state& random) noexcept {  // left: how many are, with it
    if (picks_++ % 4 == 0) bits_ = random.next64();
    const std::size_t j = (bits_ & 0xffff) * left >> 16;
    bits_ >>= 16;
    const std::uint8_t picked = cases_[j];
    cases_[j] = cases_[left - 1];
    cases_[left - 1] = picked;
    return picked;
  }
  std::size_t at(std::size_t k) const noexcept { return cases_[k]; }

 private:
  std::uint8_t cases_[kFew] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  std::uint64_t bits_ = 0;
  std::uint32_t picks_ = 0;
};

struct frame {
  frame(const select_op* o, std::size_t count, select_scratch* r) noexcept
      : ops(o), n(count), room(r), first_due(count) {}

  const select_op* ops;
  std::size_t n;
  select_scratch* room;
  std::size_t live = 0;  // cases with a channel, in the order of their locks
  std::size_t first_due;  // the case whose time comes first; n: none
  chan_core* few[kFew];   // those channels, if n is not more: a select that need not wait then
                          // touches none of its room
  random_order few_order;
  bool ordered = false;  // order() has made both orders, in the room
  presence* mine =
      nullptr;  // null: all are locked by their word. Else locks without a bit are our own
  std::uint32_t by_word = 0;
  atomic<std::uint32_t> winner{0};
  rt::timer clock;

  chan_core*& channel_at(std::size_t k) noexcept { return n <= kFew ? few[k] : room[k].channel; }
  chan_core* channel_at(std::size_t k) const noexcept { return n <= kFew ? few[k] : room[k].channel; }
  std::size_t case_at(std::size_t k) const noexcept {  // the k-th in a random order
    return ordered ? room[k].poll_order : few_order.at(k);
  }
  waiter* waiter_of(std::size_t i) const noexcept {
    return std::launder(reinterpret_cast<waiter*>(room[i].waiter));
  }
};

static_assert(sizeof(waiter) <= sizeof(select_scratch::waiter));
static_assert(offsetof(frame, ops) == rt::kSelectCasesAt && offsetof(frame, n) == rt::kSelectCountAt);
static_assert(sizeof(select_op) == rt::kCaseBytes &&
              offsetof(select_op, channel) == rt::kCaseChannelAt);

// Both orders, of any number: the one to look in, and the channels by address.
void order(frame& f, rand_state& random) noexcept {
  f.ordered = true;
  for (std::size_t i = 0; i < f.n; ++i) {
    const auto j = random.below(static_cast<std::uint32_t>(i + 1));
    f.room[i].poll_order = f.room[j].poll_order;
    f.room[j].poll_order = static_cast<std::uint32_t>(i);
    if (f.ops[i].channel != nullptr) f.channel_at(f.live++) = f.ops[i].channel;
  }
  heap_sort(f.live, [&f](std::size_t k) noexcept -> chan_core*& { return f.channel_at(k); },
            std::less<chan_core*>());
}

// fn(channel) once per channel, in the order of the locks. Reads the frame before each call only.
template <class Fn>
[[gnu::always_inline]] inline void each_channel(const frame& f, Fn&& fn) noexcept {
  chan_core* next = f.live != 0 ? f.channel_at(0) : nullptr;
  for (std::size_t k = 1; next != nullptr; ++k) {
    chan_core* const c = next;
    while (k < f.live && f.channel_at(k) == c) ++k;
    next = k < f.live ? f.channel_at(k) : nullptr;
    fn(c);
  }
}

void lock_all(const frame& f) noexcept {
  each_channel(f, [first = true](chan_core* c) mutable {
    first ? c->lock.acquire() : c->lock.acquire_next_of_kind();
    first = false;
  });
}

// Those of lock_and_look; the frame is read before each release only, and not before exit_biased().
[[gnu::always_inline]] inline void exit_biased_from(const frame& f) noexcept {
  presence& mine = *f.mine;
  const std::uint32_t by_word = f.by_word;
  const std::size_t live = f.live;
  chan_core* next = live != 0 ? f.few[0] : nullptr;
  for (std::size_t k = 0; k < live; ++k) {
    chan_core* const c = next;
    if (k + 1 < live) next = f.few[k + 1];
    (by_word >> k & 1) != 0 ? c->lock.release() : c->lock.revoke_bias();
  }
  bias::exit_biased(mine);
}

[[gnu::always_inline]] inline void unlock_all(const frame& f) noexcept {
  if (f.mine != nullptr) return exit_biased_from(f);
  each_channel(f, [](chan_core* c) { c->lock.release(); });
}

// The case whose time comes first, if any has one.
std::size_t find_first_due(const frame& f) noexcept {
  std::size_t first = f.n;
  for (std::size_t i = 0; i < f.n; ++i)
    if (f.ops[i].kind == select_kind::after && (first == f.n || f.ops[i].when < f.ops[first].when))
      first = i;
  return first;
}

// The time of the first on_after case has come: a goroutine's timer says so, a plain thread finds out
// by itself. True: nobody has served another case.
bool claim(frame& f) noexcept {
  std::uint32_t none = 0;
  return f.winner.compare_exchange_strong(none, 1, seq_cst);
}

void expire(rt::timer* clock, M* m) noexcept {
  auto& f = *static_cast<frame*>(clock->arg);
  if (!claim(f)) return;
  waiter* const w = f.waiter_of(f.first_due);
  rt::wake(m, w, told(w, true));
}

// The context is saved: the clock may start, and then the channels may be unlocked. The clock goes
// first, since the last unlock may be the end of the frame; without channels the clock is.
bool unlock_after_switch(rt::G* g, void* arg) noexcept {
  auto& f = *static_cast<frame*>(arg);
  const bool has_channels = f.live != 0;
  presence* const mine = f.mine;
  if (f.first_due != f.n && g != nullptr) {
    f.clock.fire = &expire;
    f.clock.arg = &f;
    rt::add_timer(rt::this_m(), &f.clock, f.ops[f.first_due].when);
  }
  if (has_channels) {
    unlock_all(f);
  } else if (mine != nullptr) {
    bias::exit_biased(*mine);
  }
  return true;
}

// Is it worth a try? Most cases have nobody: this is what they cost.
[[gnu::always_inline]] inline bool seems_ready_locked(const select_op& op) noexcept {
  const chan_core& c = *op.channel;
  const bool sends = op.kind == select_kind::send;
  return c.closed || (sends ? c.receivers : c.senders).first != nullptr ||
         c.count.load(relaxed) != (sends ? c.capacity : 0);
}

step serve_locked(const select_op& op, waiter** w) noexcept {
  return op.kind == select_kind::send ? send_locked(*op.channel, op.slot, w)
                                      : recv_locked(*op.channel, op.slot, w);
}

// No channel is ready, and all are locked. False: nothing else is, either.
bool take_rest_locked(frame& f, bool has_clock, std::size_t otherwise, select_result* r) noexcept {
  if (has_clock) f.first_due = find_first_due(f);
  if (otherwise == f.n && f.first_due != f.n && f.ops[f.first_due].when <= os::now_ns())
    otherwise = f.first_due;
  *r = {otherwise, true};
  return otherwise != f.n;
}

// Pass 1, all channels locked. False: nothing is ready.
bool take_ready_locked(frame& f, select_result* r, waiter** w) noexcept {
  std::size_t otherwise = f.n;
  bool has_clock = false;
  for (std::size_t k = 0; k < f.n; ++k) {
    const std::size_t i = f.case_at(k);
    const select_op& op = f.ops[i];
    if (op.kind == select_kind::otherwise) otherwise = i;
    has_clock |= op.kind == select_kind::after;
    if (op.channel == nullptr) continue;
    const step s = serve_locked(op, w);
    if (s == step::wait) continue;
    *r = {i, s != step::closed};
    return true;
  }
  return take_rest_locked(f, has_clock, otherwise, r);
}

enum class look { found, nothing, in_the_way };

// Locks c, and lists it. Without a presence: by its word.
[[gnu::always_inline]] inline bool try_lock_one(frame& f, chan_core* c) noexcept {
  bool by_word = true;
  if (f.mine == nullptr ? !c->lock.try_acquire()
                        : c->lock.try_take_biased(*f.mine, &by_word) != taking::in) [[unlikely]]
    return false;
  f.by_word |= (by_word ? 1u : 0u) << f.live;
  f.few[f.live++] = c;
  return true;
}

// Pass 1, locking as it goes. found, nothing: what it came to is locked, and listed as such;
// in_the_way: nothing is.
[[gnu::always_inline]] inline look lock_and_look(frame& f, rand_state& random, select_result* r,
                                                 waiter** w) noexcept {
  if (f.mine != nullptr) bias::enter_all_biased(*f.mine);
  std::size_t otherwise = f.n;
  bool has_clock = false;
  for (std::size_t left = f.n; left != 0; --left) {
    const std::size_t i = f.few_order.next(left, random);
    const select_op& op = f.ops[i];
    if (op.channel == nullptr) {
      if (op.kind == select_kind::otherwise) otherwise = i;
      has_clock |= op.kind == select_kind::after;
      continue;
    }
    if (!try_lock_one(f, op.channel)) [[unlikely]] {
      unlock_all(f);
      f.live = 0;
      f.mine = nullptr;
      return look::in_the_way;
    }
    if (!seems_ready_locked(op)) continue;
    const step s = serve_locked(op, w);
    if (s == step::wait) continue;
    *r = {i, s != step::closed};
    return look::found;
  }
  if (!has_clock && otherwise == f.n) return look::nothing;
  return take_rest_locked(f, has_clock, otherwise, r) ? look::found : look::nothing;
}

[[gnu::noinline]] bool lock_then_look(frame& f, rand_state& random, select_result* r,
                                      waiter** w) noexcept {
  order(f, random);
  lock_all(f);
  return take_ready_locked(f, r, w);
}

// Pass 1, one way or the other. True: found. The channels of the frame's list are locked.
[[gnu::always_inline]] inline bool look_for_ready(frame& f, rand_state& random, presence* mine,
                                                  select_result* r, waiter** w) noexcept {
  if (f.n <= kFew) {
    f.mine = mine;
    const look l = lock_and_look(f, random, r, w);
    if (l != look::in_the_way) return l == look::found;
  }
  return lock_then_look(f, random, r, w);
}

// Pass 2, in a random order: of several cases of one channel each may come first.
void enqueue_locked(frame& f, M* m, rt::guest_note* thread) noexcept {
  rt::G* const g = m != nullptr ? m->curg : nullptr;
  for (std::size_t k = 0; k < f.n; ++k) {
    const std::size_t i = f.case_at(k);
    const select_op& op = f.ops[i];
    const bool sends = op.kind == select_kind::send;
    auto* const w = ::new (static_cast<void*>(f.room[i].waiter))
        waiter{nullptr, nullptr, g, {thread}, op.channel, sends ? &unlink_sender : &unlink_receiver,
               op.slot, &f.winner};
    if (op.channel == nullptr) continue;
    if (g == nullptr) race::release(w);
    enqueue_contested(*op.channel, sends ? op.channel->senders : op.channel->receivers, w);
  }
}

// Pass 3. Every loser's channel is locked once, whether its waiter is still queued or not. The
// winner's is not: it may be gone. True: some are left, and ours to end; each_left says which.
bool dequeue(const frame& f, std::size_t winner, presence* mine) noexcept {
  bool some_left = false;
  for (std::size_t i = 0; i < f.n; ++i) {
    const select_op& op = f.ops[i];
    if (i == winner || op.channel == nullptr) continue;
    chan_core& c = *op.channel;
    waiter* const w = f.waiter_of(i);
    if (leave_queue(c, op.kind == select_kind::send ? c.senders : c.receivers, w, mine))
        [[unlikely]] {
      w->object = &c;
      some_left = true;
    }
  }
  return some_left;
}
template <class Fn>
void each_left(const frame& f, Fn fn) noexcept {
  for (std::size_t i = 0; i < f.n; ++i)
    if (void* const c = f.waiter_of(i)->object) fn(static_cast<chan_core*>(c));
}

select_result result_of(const frame& f, std::uintptr_t value) noexcept {
  const auto* const w = reinterpret_cast<const select_scratch*>(value & ~std::uintptr_t{1});
  return {static_cast<std::size_t>(w - f.room), (value & 1) != 0};
}

// The runtime ends: waiter::unlink of the goroutine as a whole, which may have been woken already.
void unlink_select(void* arg, waiter* self) noexcept {
  auto& f = *static_cast<frame*>(arg);
  const bool woken = f.winner.load(relaxed) != 0;
  if (dequeue(f, woken ? result_of(f, self->g->wake_value).index : f.n, nullptr))
    each_left(f, &chan_release);
  self->object = nullptr;
}

// Inside.
[[gnu::always_inline]] inline select_result select_inside(frame& f, M* m, rand_state& random) noexcept {
  select_result r{};
  waiter* other = nullptr;
  if (look_for_ready(f, random, m != nullptr ? &rt::presence_of(m) : nullptr, &r, &other)) {
    unlock_all(f);
    if (other != nullptr) rt::wake(m, other, told(other, true));
    rt::leave_either(m);
    return r;
  }
  rt::place mine;
  enqueue_locked(f, m, mine.note());
  mine.self(m, &f, &unlink_select);
  const std::uintptr_t told =
      mine.sleep_until(m, rt::by_commit{&unlock_after_switch, &f}, rt::wait_reason::select,
                       f.first_due != f.n ? f.ops[f.first_due].when : rt::kNoTimer,
                       [&f] { return claim(f); });
  r = told == rt::kTimedOut ? select_result{f.first_due, true} : result_of(f, told);
  m = rt::enter_either();
  mine.whose().object = nullptr;
  if (m != nullptr && f.first_due != f.n && r.index != f.first_due) rt::stop_timer(&f.clock);
  const bool some_left = dequeue(f, r.index, m != nullptr ? &rt::presence_of(m) : nullptr);
  const bool calm = rt::try_leave_either(m);
  if (some_left) [[unlikely]] each_left(f, &chan_end);  // before we might not go on
  if (!calm) [[unlikely]] rt::attend();
  return r;
}

[[gnu::noinline]] select_result select_on_thread(const select_op* ops, std::size_t n,
                                                 select_scratch* room) noexcept {
  frame f(ops, n, room);
  rand_state random{os::random_seed()};
  rt::guest_enter();
  return select_inside(f, nullptr, random);
}

}  // namespace

select_result select_core(const select_op* ops, std::size_t n, select_scratch* room) noexcept {
  M* const me = rt::this_m();
  if (me == nullptr) [[unlikely]] return select_on_thread(ops, n, room);
  frame f(ops, n, room);
  M* const m = rt::enter_as(me);
  return select_inside(f, m, m->random);
}

void select_nothing() noexcept {
  rt::refuse_in_value_move();
  if (!rt::on_goroutine()) os::park_forever();
  rt::enter();
  rt::park([](rt::G*, void*) noexcept { return true; }, nullptr, rt::wait_reason::select_nothing);
  broken("select: a goroutine that waits for nothing was woken");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
