// A mutex that one P locks again and again is that P's own (base/bias.h).
//
// While the word says `biased`, its flags say nothing else but held or not, and only the owner changes
// it, sitting, by plain loads and stores. Everybody else, and the owner where it takes more than that,
// takes it back first, and then there is the usual way. So the slow paths (sync/mutex.cc) meet no
// word that may change without a read-modify-write of its own:
//
//     the owner                             anybody else
//     sits; is it still mine?               sees `biased`: unbias()
//     word = word with or without held        owner = nobody; membarrier; waits for the presence
//     stands up                               word &= ~owned
//
// Who    mutex.h's inline half; lock() of sync/waitable.h.
// Where  who sits is inside the runtime, for a moment (enter_briefly). Taking it back needs no runtime:
//        what was called while one ends, an unlock() above all, happens.
// Law    `biased` is set by who holds the mutex, while nobody waits or is at the list, and by compare-
//        exchange: whoever looked before and comes after finds the word changed.
//        `whose` changes under `bias_guard`, but for counting (bias::count), which is for who
//        holds the mutex while it is nobody's own.
// Law    who sits here waits for nobody: who takes it back may sit in a channel's lock (base/bias.h).
// Note   user code that runs inside (the move of a value under a channel's lock) may lock and unlock
//        what nobody else wants, whoever's own it is.
// Note   after the last store to its word the owner touches its presence only. Nobody gets in before it
//        stands up: who is let in may destroy the mutex.
// Note   lock() is a checkpoint here, before it locks: not after, where who yields would keep all
//        others waiting for it.
// Proof  tests/model/mutex_biased_model.cc, tests/stress/biased_stress_test.cc

#include "base/lock.h"
#include "base/bias.h"
#include "sync/mutex.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

namespace flag = mutex_flag;

// Held while it is given or taken back.
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

// Who cannot sit here, for want of a P or because it runs inside the runtime, takes it back and has
// the usual way, which needs neither.
void disown_if_without_p(mutex_waitable& s) noexcept {
  if (rt::seems_without_p()) mutex_disown(s);
}

[[gnu::noinline]] bool lock_otherwise(mutex_waitable& s) noexcept {
  disown_if_without_p(s);
  return false;
}

// Not ours any more, or there is somebody to be woken; or as above.
[[gnu::noinline]] bool unlock_otherwise(mutex_waitable& s) noexcept {
  disown_if_without_p(s);
  mutex_unlock_slow(s);
  return true;
}

// The usual way to the end. Once it is there, later waits come straight back to the caller's lock():
// nobody owns the mutex then.
[[gnu::noinline]] void wait_for(mutex_waitable& s) noexcept {
  mutex_attempt mine;
  mine.was_held = (s.word.load(relaxed) & flag::held) != 0;
  while (mutex_lock_slow(s, mine) == 0) {
  }
  put_stack_place(s.locker);
}

// The two things that an owner does, sitting: if the word's flags are `from`, held or not becomes the
// other. otherwise(): if that cannot be; outside.
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
// Inside, perhaps sitting, and nothing was done.
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
// It is done, and somebody may wait for the presence that we have left.
[[gnu::noinline]] bool wake_and_leave(M* m) noexcept {
  wake_sleeper_of(&rt::presence_of(m).at);
  rt::leave(m);
  return true;
}
[[gnu::noinline]] bool attend_and_return() noexcept {
  rt::attend();
  return true;
}

// If it is our own, and is as it should be. On an M that is not inside.
template <class Operation>
[[gnu::always_inline]] inline bool change_own(M* m, mutex_waitable& s) noexcept {
  auto* const p = rt::enter_briefly(m);
  if (!likely(p != nullptr)) return leave_without_p<Operation>(m, s);
  presence& mine = rt::presence_of(p);
  if (!likely(bias::try_enter_biased(s.whose, mine, bias::name_of_mutex(&s))))
    return leave_otherwise<Operation>(m, s);
  // What the P did before it knows; the orders are for who reads the word alone: TSan.
  const std::uint64_t seen = s.word.load(acquire);
  if (!likely(static_cast<std::uint32_t>(seen) == Operation::from))
    return leave_otherwise<Operation>(m, s);
  s.word.store(seen ^ flag::held, release);
  if constexpr (Operation::from == flag::biased) put_stack_place(s.locker);
  if (!likely(bias::exit_biased_quietly(&mine.at))) return wake_and_leave(m);
  if (!likely(rt::try_leave(m))) return attend_and_return();
  return true;
}

// Held by us, and nobody waits or is at the list.
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
  M* const m = arch::this_m();
  if (!rt::may_enter_briefly(m)) return lock_otherwise(s);
  rt::attend();
  return change_own<locking>(arch::this_m(), s);
}

[[gnu::noinline]] void lock_mine_after_attending(mutex_waitable& s) noexcept {
  if (!lock_after_attending(s)) wait_for(s);
}

// Held by us, and the runtime is ending, or has ended: others may have it then.
[[gnu::noinline]] void attend_without(mutex_waitable& s) noexcept {
  mutex_unlock_slow(s);
  rt::attend();  // for ever, unless somebody was only looking at our P
  mutex_attempt mine;
  while (mutex_lock_slow(s, mine) == 0) {
  }
}

}  // namespace

void mutex_lock_mine(mutex_waitable& s) noexcept {
  M* const m = arch::this_m();
  if (!rt::may_enter_unasked(m)) [[unlikely]]
    return lock_mine_after_attending(s);
  change_own<locking_or_waiting>(m, s);
}

bool mutex_lock_biased(mutex_waitable& s) noexcept {
  M* const m = arch::this_m();
  if (!rt::may_enter_unasked(m)) [[unlikely]]
    return lock_after_attending(s);
  return change_own<locking>(m, s);
}

void mutex_unlock_biased(mutex_waitable& s) noexcept {
  M* const m = arch::this_m();
  if (!rt::may_enter_briefly(m)) [[unlikely]] {
    unlock_otherwise(s);
    return;
  }
  change_own<unlocking>(m, s);
}

void mutex_sample(mutex_waitable& s) noexcept {
  M* const m = arch::this_m();
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
  rt::lifecycle::refuse_forked_child();
  const rt::strict::undisturbed here;
  disown_inside(s);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
