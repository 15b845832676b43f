// condition_variable.cc's wait and notify in short, to be broken.
//
// Who    condition_model.cc, which includes the shipped text before.
#pragma once

namespace vole::detail {
namespace {

enum class fault {
  none,
  unlocks_first,       // gives up the mutex before it is in the queue
  queues_unsaid,       // without `waiting`: notify sees nobody
  newest_first,        // a later waiter takes the place of an earlier one
  wakes_two,           // for one notify
  wakes_one_for_all,   // notify_all
  says_nobody_waits,   // after a notify, though more do
  wakes_under_lock,    // and releases the lock of what may be gone
  returns_unlocked,    // without the mutex
  claims_nobody,       // a stop request may wake who was notified
  unlocks_then_parks,  // instead of in the commit
  commit_reads_late,   // which mutex, when the waiter may be elsewhere
};

// The commit; its goroutine's slot is the mutex.
template <fault F>
bool faulty_commit(rt::G* g, void* condition) noexcept {
  void* mutex = g->wait.slot;
  if (F != fault::unlocks_then_parks) unlock(*static_cast<waitable*>(condition));
  if (F == fault::commit_reads_late) {
    model::require(mutex == g->wait.slot, "the commit unlocks something else");
  }
  mutex_unlock_inside(*static_cast<waitable*>(mutex), arch::this_m());
  return true;
}

template <fault F>
class faulty_condition {
 public:
  void wait(waitable& held_mutex, condition_stop* stop) noexcept {
    rt::place here;
    M* const m = rt::enter_either();
    if (F == fault::unlocks_first) mutex_unlock_inside(held_mutex, m);
    lock(s_);
    if (stop != nullptr && stop->requested) {
      unlock(s_);
      return mutex_unlock_inside(held_mutex, m);
    }
    waiter* const w = here.self(m, &s_, &unlink_waiter);
    w->slot = &held_mutex;
    queue_locked(w, stop);
    if (m != nullptr && F != fault::unlocks_first) {
      if (F == fault::unlocks_then_parks) unlock(s_);
      rt::park(&faulty_commit<F>, &s_, rt::wait_reason::condition_variable);
      return;
    }
    unlock(s_);
    if (F != fault::unlocks_first) mutex_unlock_inside(held_mutex, m);
    here.note()->sleep();
  }

  void notify(bool all) noexcept {
    if ((s_.word.load(relaxed) & kWaiting) == 0) return;
    int n = all && F != fault::wakes_one_for_all ? INT_MAX : F == fault::wakes_two ? 2 : 1;
    wake_list go;
    lock(s_);
    for (; n > 0 && s_.waiters.first != nullptr; --n) go.add(next_locked());
    const bool any = s_.waiters.first != nullptr && F != fault::says_nobody_waits;
    if (F == fault::wakes_under_lock) go.wake_all(nullptr, 0);
    unlock(s_, [=](std::uint64_t word) { return with_waiting(word, any); });
    go.wake_all(nullptr, 0);
  }

  waitable& state() noexcept { return s_; }
  static constexpr bool kLocksAgain = F != fault::returns_unlocked;

 private:
  void queue_locked(waiter* w, condition_stop* stop) noexcept {
    w->winner = nullptr;
    if (stop != nullptr) {
      stop->waiter = w;
      stop->winner.store(0, relaxed);
      w->winner = &stop->winner;
    }
    rt::wait_queue::push_back(s_.waiters, w);
    if (F != fault::queues_unsaid) s_.word.fetch_or(kWaiting, relaxed);
  }
  waiter* next_locked() noexcept {
    waiter* const w = F == fault::newest_first ? s_.waiters.last : s_.waiters.first;
    rt::wait_queue::remove(s_.waiters, w);
    if (w->winner != nullptr && F != fault::claims_nobody) w->winner->store(1, relaxed);
    return w;
  }

  waitable s_;
};

}  // namespace
}  // namespace vole::detail
