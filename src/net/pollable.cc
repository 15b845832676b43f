#include "net/pollable.h"

#include <cerrno>

#include "os/net.h"
#include "os/os.h"
#include "sched/work/netpoll.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::uintptr_t kGone = 1;  // closer_: it is over

// At the runtime's end goroutines are not woken: their turn to be abandoned comes.
void tell(M* m, waiter* w, std::uintptr_t value, bool at_end = false) noexcept {
  if (!at_end || w->g == nullptr) rt::wake(m, w, value);
}

bool unlock_guard(rt::G*, void* guard) noexcept VOLE_UNCHECKED {  // queue() took it
  static_cast<base::lock<lock_rank::object>*>(guard)->release();
  return true;
}

}  // namespace

pollable::pollable(int fd) noexcept : fd_(fd) {
  for (const way w : {way::in, way::out}) {
    const auto i = static_cast<unsigned>(w);
    deadline_[i].store(kNever, relaxed);
    pause_[i].store(kNever, relaxed);
    clock_[i].fire = &fire;
    clock_[i].file = this;
    clock_[i].w = w;
  }
}

pollable::~pollable() = default;

int pollable::attach() noexcept {
  rt::watch_forks();
  const int error = [this] {
    const rt::undisturbed here;  // the poller's lock
    return rt::poll::open(fd_, &descriptor_);
  }();
  if (error == EPERM) return 0;
  if (error != 0) return error;
  bool runs;
  M* const m = rt::enter_as(rt::this_m(), runs);
  if (runs) rt::network_in_use();
  rt::leave_either(m);
  return 0;
}

bool pollable::use() noexcept {
  std::uint64_t seen = word_.load(relaxed);
  while ((seen & kClosing) == 0)
    if (word_.compare_exchange_strong(seen, seen + kOne, base::acquire, relaxed)) return true;
  return false;
}

void pollable::unuse() noexcept {
  if (count_down()) end_life(false);
}

bool pollable::count_down() noexcept { return word_.fetch_sub(kOne, acq_rel) < 2 * kOne; }

// ── the goroutine in the runtime's hands ── a plain thread always comes back

// Before it enters: it may not come back.
void pollable::set_out(stay& s) noexcept {
  s.who->slot = &s;
  s.who->unlink = &abandon;
  compiler_barrier();
  s.who->object = s.file;
}

void pollable::come_back(stay& s) noexcept {
  if (s.over.exchange(1, seq_cst) != 0) {  // abandoned, on the last step
    rt::enter();
    os::park_forever();
  }
  s.who->object = nullptr;
}

// The runtime has ended; nobody else is inside.
void pollable::abandon(void*, waiter* w) noexcept {
  stay& s = *static_cast<stay*>(w->slot);
  if (s.over.exchange(1, seq_cst) != 0) return;  // it is back in user code
  w->object = nullptr;
  if (s.ends != nullptr && s.ends->linked) s.ends->context->disarm(*s.ends);
  pollable& file = *s.file;
  switch (s.has) {
    case stay::having::place: file.unqueue(w, s); break;
    case stay::having::lock:
      if (file.descriptor_ != nullptr) rt::poll::unlink_wait(*file.descriptor_, w);
      if (waiter* const next = file.hand_over(s.w)) tell(nullptr, next, kYours, true);
      break;
    case stay::having::nothing: break;
    case stay::having::closing:
      file.evict(nullptr, true);
      if (file.count_down()) file.end_life(true);
      return file.drop();
    case stay::having::keeper: file.closer_.exchange(0, seq_cst); return file.drop();
  }
  if (file.count_down()) file.end_life(true);
}

// ── the queue ──

// Under guard_. A reference comes with the lock and with a place in the queue.
pollable::entry pollable::enter_line_locked(way w) noexcept {
  std::uint64_t seen = word_.load(relaxed);
  for (;;) {
    if ((seen & kClosing) != 0) return entry::closed;
    const bool free = (seen & locked(w)) == 0;
    const std::uint64_t next = (seen | (free ? locked(w) : queued(w))) + kOne;
    if (word_.compare_exchange_strong(seen, next, acq_rel, relaxed))
      return free ? entry::ours : entry::queued;
  }
}

// Under guard_.
pollable::entry pollable::line_up_locked(waiter* me, stay& s) noexcept {
  const entry e = enter_line_locked(s.w);
  if (e != entry::queued) return e;
  me->slot = &s;
  line& l = line_[static_cast<unsigned>(s.w)];
  if (s.ends != nullptr && !arm_for_turn(*s.ends, s.w, me)) {
    if (l.first == nullptr) word_.fetch_and(~queued(s.w), relaxed);
    return entry::canceled;
  }
  rt::wait_queue::push_back(l, me);
  s.in_line = true;
  return e;
}

bool pollable::acquire_slow(way w) noexcept {
  const std::uintptr_t told = queue(w, nullptr);
  if (told != kLost) return told == kYours;
  unuse();
  return false;
}

std::uintptr_t pollable::told(entry e) noexcept {
  return e == entry::ours ? kYours : e == entry::closed ? kClosed : kStopped;
}

std::uintptr_t pollable::queue(way w, stop* by) noexcept VOLE_UNCHECKED {  // its commit unlocks
  rt::place mine;
  stay s{this, w, stay::having::place, &mine.whose()};
  s.ends = by;
  M* const m = rt::enter_either();
  guard_.acquire();
  const entry e = line_up_locked(mine.self(m, this, &abandon), s);
  if (e != entry::queued) {
    guard_.release();
    s.who->object = nullptr;
    s.has = e == entry::ours ? stay::having::lock : stay::having::nothing;
    if (e != entry::closed) set_out(s);
    rt::leave_either(m);
    if (e != entry::closed) come_back(s);
    return told(e);
  }
  const std::uintptr_t what =
      mine.sleep(m, rt::by_commit{&unlock_guard, &guard_}, rt::wait_reason::network);
  if (by != nullptr) rt::inside([by](M*) { disarm(by); });
  come_back(s);
  return what;
}

// Takes the first waiter off the queue that its context has not claimed, and notes what it has now.
// Under guard_. nullptr: nobody.
waiter* pollable::take_locked(way w, stay::having now_has) noexcept {
  line& l = line_[static_cast<unsigned>(w)];
  waiter* first;
  do {
    first = rt::wait_queue::pop_front(l);
    if (first != nullptr) static_cast<stay*>(first->slot)->in_line = false;
  } while (first != nullptr && !rt::claim(first));
  if (l.first == nullptr) word_.fetch_and(~queued(w), relaxed);
  if (first == nullptr) return nullptr;
  static_cast<stay*>(first->slot)->has = now_has;
  first->object = this;  // until it is back
  return first;
}

// The lock goes to the first in the queue, or is free.
waiter* pollable::hand_over(way w) noexcept {
  holding hold(guard_);
  waiter* const next = take_locked(w, stay::having::lock);
  if (next == nullptr) word_.fetch_and(~locked(w), base::release);
  return next;
}

void pollable::unqueue(waiter* me, stay& s) noexcept {
  holding hold(guard_);
  if (!s.in_line) return;
  s.in_line = false;
  line& l = line_[static_cast<unsigned>(s.w)];
  rt::wait_queue::remove(l, me);
  if (l.first == nullptr) word_.fetch_and(~queued(s.w), relaxed);
}

void pollable::release_slow(way w) noexcept {
  within(w, stay::having::lock, [&](M* m, bool, stay& s) noexcept {
    if (waiter* const next = hand_over(w)) tell(m, next, kYours);
    s.has = stay::having::nothing;
  });
  unuse();
}

// ── the end ──

// Wakes every waiter; each finds the file closed.
void pollable::evict(M* m, bool at_end) noexcept {
  for (const way w : {way::in, way::out}) {
    for (;;) {
      guard_.acquire();
      waiter* const next = take_locked(w, stay::having::nothing);
      guard_.release();
      if (next == nullptr) break;
      tell(m, next, kLost, at_end);
    }
    if (descriptor_ == nullptr || at_end) continue;  // at the end they are all woken
    if (waiter* const next = rt::poll::unblock(*descriptor_, w, false)) tell(m, next, 0);
  }
}

bool pollable::close(bool keep_fd, int* error) noexcept {
  std::uint64_t seen = word_.load(relaxed);
  do {
    if ((seen & kClosing) != 0) return false;
  } while (!word_.compare_exchange_strong(seen, seen | kClosing, seq_cst, relaxed));
  keep_fd_ = keep_fd;
  keep();
  if (seen >= 2 * kOne)  // somebody is inside
    within(way::in, stay::having::closing, [this](M* m, bool, stay&) noexcept { evict(m, false); });
  if (count_down()) {
    end_life(false);
    if (error != nullptr) *error = close_error_;
  } else if (descriptor_ != nullptr) {
    wait_until_closed();
  }
  drop();
  return true;
}

// The others are on their way out.
void pollable::wait_until_closed() noexcept {
  rt::place mine;
  stay s{this, way::in, stay::having::keeper, &mine.whose()};
  set_out(s);
  M* const m = rt::enter_either();
  mine.self(m, this, &abandon)->slot = &s;
  const rt::commit_fn announce = [](rt::G*, void* arg) noexcept {
    const stay& closing = *static_cast<stay*>(arg);
    std::uintptr_t none = 0;
    return closing.file->closer_.compare_exchange_strong(
        none, reinterpret_cast<std::uintptr_t>(closing.who), seq_cst);
  };
  mine.sleep(m, rt::by_commit{announce, &s}, rt::wait_reason::network);
  come_back(s);
}

// The last reference is gone. at_end: the runtime's, where nobody enters.
void pollable::end_life(bool at_end) noexcept {
  for (clock& c : clock_) rt::stop_timer(&c);
  if (descriptor_ != nullptr) {
    const rt::undisturbed here;
    rt::poll::close(descriptor_);
  }
  if (blocking_at_end_) os::net::make_nonblocking(fd_, false);
  if (!keep_fd_) close_error_ = os::net::close(fd_).error;
  const std::uintptr_t closer = closer_.exchange(kGone, seq_cst);
  if (closer != 0) {
    auto* const w = reinterpret_cast<waiter*>(closer);
    if (w->g == nullptr) {
      rt::wake(nullptr, w, 0);  // needs no runtime
    } else if (!at_end) {
      within(way::in, stay::having::keeper, [w](M* m, bool, stay&) noexcept { rt::wake(m, w, 0); });
    }
  }
  drop();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
