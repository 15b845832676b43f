// A mutex that one P locks again and again is biased to that P (base/bias.h).
//
// While the word says `biased`, its flags say nothing else but held or not, and only the owner changes
// it, by plain loads and stores, after it has entered. Everybody else revokes the bias first and then
// locks or unlocks in the usual way; so does the owner if there is more to do. So the slow paths
// (sync/mutex.cc) meet no word that may change without a read-modify-write:
//
//     the owner                             anybody else
//     enters; is it still mine?             sees `biased`: mutex_disown()
//     word = word with or without held        owner = nobody; membarrier; waits for the owner to leave
//     leaves                                  word &= ~biased
//
// Who    mutex.h's inline half; lock() of sync/waitable.h.
// Where  an owner that has entered is inside the runtime, for a moment (enter_briefly). Revoking needs
//        no runtime: an unlock() that is called while the runtime ends still happens.
// Law    `biased` is set by the holder of the mutex, while nobody waits or holds the list's lock, and
//        by compare-exchange: a thread that looked at the word before finds it changed.
//        `whose` changes under `bias_guard`, except that the holder of a mutex that is nobody's own
//        counts there (bias::count).
// Law    an owner that has entered waits for nobody: the thread that revokes may be inside a channel's
//        lock (base/bias.h).
// Note   user code that runs inside (the move of a value under a channel's lock) may lock and unlock
//        a mutex that nobody else wants, to whichever P it is biased.
// Note   after the last store to the word the owner touches its presence only. Nobody else gets the
//        mutex before the owner has left, since the next holder may destroy it.
// Note   lock() is a checkpoint here, before it locks. After it, a goroutine that yields would keep all
//        others waiting for the mutex.
// Proof  tests/model/mutex_biased_model.cc, tests/stress/biased_stress_test.cc

#include "base/lock.h"
#include "base/bias.h"
#include "sync/mutex.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

namespace flag = mutex_flag;

// Held while a mutex becomes biased or its bias is revoked.
class with_bias_guard {
 public:
  explicit with_bias_guard(mutex_waitable& s) noexcept : word_(s.bias_guard) { bias_guard::acquire_word(word_); }
  ~with_bias_guard() { bias_guard::release_word(word_); }
  with_bias_guard(const with_bias_guard&) = delete;
  with_bias_guard& operator=(const with_bias_guard&) = delete;

 private:
  using bias_guard = base::lock<lock_rank::bias>;
  atomic<std::uint32_t>& word_;
};

// A thread that cannot enter, for want of a P or because it is inside the runtime, revokes the bias
// and takes the usual way, which needs neither.
void disown_if_without_p(mutex_waitable& s) noexcept {
  if (rt::seems_without_p()) mutex_disown(s);
}

[[gnu::noinline]] bool lock_otherwise(mutex_waitable& s) noexcept {
  disown_if_without_p(s);
  return false;
}

// It is not ours any more, or somebody must be woken, or we cannot enter.
[[gnu::noinline]] bool unlock_otherwise(mutex_waitable& s) noexcept {
  disown_if_without_p(s);
  mutex_unlock_slow(s);
  return true;
}

// Waits in the usual way until the mutex is ours.
[[gnu::noinline]] void wait_for(mutex_waitable& s) noexcept {
  mutex_attempt mine;
  mine.was_held = (s.word.load(relaxed) & flag::held) != 0;
  while (mutex_lock_slow(s, mine) == 0) {
  }
  put_stack_place(s.locker);
}

// The two things that an owner does once it has entered: if the word's flags are `from`, it flips
// `held`. If it cannot, otherwise() is called, in user context.
struct locking {
  static constexpr std::uint32_t from = flag::biased;
  static bool otherwise(mutex_waitable& s) noexcept { return lock_otherwise(s); }
};
struct locking_or_waiting : locking {
  static bool otherwise(mutex_waitable& s) noexcept {
    disown_if_without_p(s);
    wait_for(s);
    return true;
  }
};
struct unlocking {
  static constexpr std::uint32_t from = flag::biased | flag::held;
  static bool otherwise(mutex_waitable& s) noexcept { return unlock_otherwise(s); }
};

// The rule makes no call (docs/design/0011-no-frame.md); these are its exceptions.
// We are inside the runtime, have perhaps entered the mutex, and nothing was done.
template <class Operation>
[[gnu::noinline]] bool leave_otherwise(M* m, mutex_waitable& s) noexcept {
  bias::exit_biased(rt::presence_of(m));
  rt::leave(m);
  return Operation::otherwise(s);
}
// An unlock() happens before we attend: at the end of the runtime that is for ever.
template <class Operation>
[[gnu::noinline]] bool leave_without_p(M* m, mutex_waitable& s) noexcept {
  const bool asked = !rt::try_leave(m);
  const bool result = Operation::otherwise(s);
  if (asked) rt::attend();
  return result;
}
// It is done, and somebody may sleep until we have left the mutex.
[[gnu::noinline]] bool wake_and_leave(M* m) noexcept {
  wake_sleeper_of(&rt::presence_of(m).at);
  rt::leave(m);
  return true;
}
[[gnu::noinline]] bool attend_and_return() noexcept {
  rt::attend();
  return true;
}

// Changes the word if the mutex is our own and the word is as it should be. On an M that is not inside.
template <class Operation>
[[gnu::always_inline]] inline bool change_own(M* m, mutex_waitable& s) noexcept {
  auto* const p = rt::enter_briefly(m);
  if (!likely(p != nullptr)) return leave_without_p<Operation>(m, s);
  presence& mine = rt::presence_of(p);
  if (!likely(bias::try_enter_biased(s.whose, mine, bias::name_of_mutex(&s))))
    return leave_otherwise<Operation>(m, s);
  // The P sees its own earlier stores anyway; the orders tell ThreadSanitizer, which knows the word
  // only.
  const std::uint64_t seen = s.word.load(acquire);
  if (!likely(static_cast<std::uint32_t>(seen) == Operation::from))
    return leave_otherwise<Operation>(m, s);
  s.word.store(seen ^ flag::held, release);
  if constexpr (Operation::from == flag::biased) put_stack_place(s.locker);
  if (!likely(bias::exit_biased_quietly(&mine.at))) return wake_and_leave(m);
  if (!likely(rt::try_leave(m))) return attend_and_return();
  return true;
}

// We hold it, and nobody waits or holds the list's lock.
void bias_towards(mutex_waitable& s, const presence& mine) noexcept {
  const with_bias_guard hold(s);
  bias::bias_towards(s.whose, mine);
  std::uint64_t seen = s.word.load(relaxed);
  while ((seen & wait_flag::all) == flag::held)
    if (s.word.compare_exchange_strong(seen, seen | flag::biased, acq_rel, relaxed)) return;
  s.whose.biased_to.store(0, relaxed);
}

// On a plain thread, inside, or asked to attend.
[[gnu::noinline]] bool lock_after_attending(mutex_waitable& s) noexcept {
  M* const m = rt::this_m();
  if (!rt::may_enter_briefly(m)) return lock_otherwise(s);
  rt::attend();
  return change_own<locking>(rt::this_m(), s);
}

[[gnu::noinline]] void lock_mine_after_attending(mutex_waitable& s) noexcept {
  if (!lock_after_attending(s)) wait_for(s);
}

// We hold it, and the runtime is ending or has ended: others may have the mutex then.
[[gnu::noinline]] void attend_without(mutex_waitable& s) noexcept {
  mutex_unlock_slow(s);
  rt::attend();  // for ever, unless somebody was only looking at our P
  mutex_attempt mine;
  while (mutex_lock_slow(s, mine) == 0) {
  }
}

}  // namespace

void mutex_lock_mine(mutex_waitable& s) noexcept {
  M* const m = rt::this_m();
  if (!rt::may_enter_unasked(m)) [[unlikely]]
    return lock_mine_after_attending(s);
  change_own<locking_or_waiting>(m, s);
}

bool mutex_lock_biased(mutex_waitable& s) noexcept {
  M* const m = rt::this_m();
  if (!rt::may_enter_unasked(m)) [[unlikely]]
    return lock_after_attending(s);
  return change_own<locking>(m, s);
}

void mutex_unlock_biased(mutex_waitable& s) noexcept {
  M* const m = rt::this_m();
  if (!rt::may_enter_briefly(m)) [[unlikely]] {
    unlock_otherwise(s);
    return;
  }
  change_own<unlocking>(m, s);
}

void mutex_sample(mutex_waitable& s) noexcept {
  M* const m = rt::this_m();
  if (!rt::may_enter_briefly(m)) return;
  if (rt::is_asked(m)) {  // not the time to yield
    if (rt::seems_without_p()) attend_without(s);
    return;
  }
  if (rt::enter_briefly(m) != nullptr) {
    const presence& mine = rt::presence_of(m);
    if (!bias::count(s.whose, mine, mutex_sampling)) bias_towards(s, mine);
  }
  rt::leave(m);
}

void disown_inside(waitable& object) noexcept {
  auto& s = static_cast<mutex_waitable&>(object);
  const with_bias_guard hold(s);
  if (bias::is_biased(s.whose.biased_to.load(relaxed)))
    bias::revoke(s.whose, bias::name_of_mutex(&s), rt::presence_inside());
  s.word.fetch_and(~flag::biased, acq_rel);
}

void mutex_disown(mutex_waitable& s) noexcept {
  rt::refuse_forked_child();
  const rt::undisturbed here;
  disown_inside(s);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
