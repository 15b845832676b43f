// mutex.cc's lock and unlock in short, to be broken.
//
// Who    mutex_model.cc, which includes the shipped text before.
#pragma once

namespace vole::detail {
namespace {

enum class fault {
  none,
  wakes_nobody,        // unlock() only frees
  keeps_woken,         // who was woken and wins does not say so
  queues_unsaid,       // without `waiting`
  looks_then_queues,   // in two lock sections
  loser_goes_last,     // instead of to the head of the queue
  hands_over_free,     // the new owner is told so, but the mutex is free
  frees_for_all,       // starving, it frees the mutex and lets the first waiter compete
  starving_competes,   // starving goes on, but the first waiter is told to compete
  starving_for_ever,   // the last waiter does not end it
  ends_starving_late,  // after the hand-over, when it may be gone
  frees_then_wakes,    // in two steps
  unlocks_then_parks,  // instead of in the commit
  abandons,            // who is abandoned on the way to compete passes nothing on
};

template <fault F>
class faulty_mutex {
 public:
  void lock() noexcept {
    mutex_attempt mine;
    while (!attempt(mine)) {
    }
  }
  bool try_lock() noexcept { return take({}, 0); }
  void unlock() noexcept {
    if (F == fault::wakes_nobody) {
      s_.word.fetch_and(~kHeld, release);
    } else if (F == fault::frees_then_wakes && (s_.word.load(relaxed) & kStarving) == 0) {
      s_.word.fetch_and(~kHeld, release);
      free_locked();
    } else if (!unlock_alone(s_)) {
      free_locked();
    }
  }
  const waitable& state() const noexcept { return s_; }

 private:
  bool take(const mutex_attempt& mine, std::uint64_t otherwise) noexcept {
    std::uint64_t seen = s_.word.load(relaxed);
    for (;;) {
      const bool free = (seen & (kHeld | kStarving)) == 0;
      if (!free && otherwise == 0) return false;
      const bool clears = mine.queued && F != fault::keeps_woken;
      const std::uint64_t rest = clears ? seen & ~kWoken : seen;
      if (s_.word.compare_exchange_strong(seen, rest | (free ? kHeld : otherwise), acquire,
                                          relaxed))
        return free;
    }
  }

  bool attempt(mutex_attempt& mine) noexcept {
    if (take(mine, 0)) return true;
    rt::place here;
    M* const m = rt::enter_either();
    detail::lock(s_);
    const std::int64_t now = os::now_ns();
    if (!mine.queued) mine.since = now;
    const bool starving = mine.queued && now - mine.since > kStarvingAfter;
    if (take(mine, (F == fault::queues_unsaid ? kLocked : kWaiting) | (starving ? kStarving : 0))) {
      detail::unlock(s_);
      return true;
    }
    if (F == fault::looks_then_queues) {
      detail::unlock(s_);
      detail::lock(s_);
    }
    waiter* const w = here.self(m, &s_, &unlink_waiter);
    if (F == fault::loser_goes_last) mine.queued = false;
    queue_locked(s_, mine, w);
    if (m == nullptr || F == fault::unlocks_then_parks) detail::unlock(s_);
    if (m == nullptr) return here.note()->sleep() == kOwner;
    const auto commit = F == fault::unlocks_then_parks ? [](rt::G*, void*) noexcept { return true; }
                                                       : &unlock_after_switch;
    return rt::park(commit, &s_, rt::wait_reason::mutex) == kOwner;
  }

  void free_locked() noexcept {
    detail::lock(s_);
    const std::uint64_t seen = s_.word.load(relaxed);
    const bool starving = (seen & kStarving) != 0;
    waiter* const w =
        starving || (seen & kWoken) == 0 ? rt::wait_queue::pop_front(s_.waiters) : nullptr;
    const bool more = s_.waiters.first != nullptr;
    if (w != nullptr && starving && F != fault::frees_for_all) return hand_over(w, more);
    if (w != nullptr && w->g != nullptr) {
      w->object = F == fault::abandons ? nullptr : &s_;
      w->unlink = &pass_on;
    }
    const std::uint64_t freed = F == fault::frees_then_wakes ? kStarving : kHeld | kStarving;
    detail::unlock(s_, [=](std::uint64_t word) {
      return with_waiting(word & ~freed, more) | (w != nullptr ? kWoken : 0);
    });
    if (w != nullptr) rt::wake(nullptr, w, kCompete);
  }

  void hand_over(waiter* w, bool more) noexcept {
    const bool calm =
        (!more && F != fault::starving_for_ever) || os::now_ns() - waiting_since(w) < kStarvingAfter;
    std::uint64_t ends = calm && F != fault::ends_starving_late ? kStarving : 0;
    if (F == fault::hands_over_free) ends = kHeld | kStarving;
    if (F == fault::starving_competes) ends = kHeld;
    detail::unlock(s_, [=](std::uint64_t word) { return with_waiting(word & ~ends, more); });
    rt::wake(nullptr, w, F == fault::starving_competes ? kCompete : kOwner);
    if (calm && F == fault::ends_starving_late) s_.word.fetch_and(~kStarving, relaxed);
  }

  waitable s_;
};

}  // namespace
}  // namespace vole::detail
