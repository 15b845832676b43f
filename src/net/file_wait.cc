#include "net/file_wait.h"

#include <poll.h>

#include <cerrno>

#include "os/os.h"
#include "sched/life/spawn.h"
#include "sched/wait/place.h"
#include "sched/work/netpoll.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;
using rt::G;
using rt::M;
using rt::waiter;

constexpr std::uint32_t kAlwaysReady = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;  // of a disk file

file_wait::file_wait(rt::poll::watched* watches, unsigned n, std::int64_t until,
                     rt::interrupter* by) noexcept
    : watches_(watches), n_(n), until_(until), by_(by) {
  clock_.of = this;
  clock_.fire = &ring;
  stop_.of = this;
  stop_.claim = &claim;
  stop_.fire = &fire;
}

void file_wait::ring(rt::timer* t, M* m) noexcept {
  file_wait& mine = *static_cast<clock*>(t)->of;
  mine.late_.store(true, seq_cst);
  if (waiter* const who = end_party(mine.party_)) rt::wake(m, who);
}

bool file_wait::claim(rt::interrupt& i, M*) noexcept {
  auto& mine = static_cast<stop&>(i);
  mine.of->canceled_.store(true, seq_cst);
  mine.whom = end_party(mine.of->party_);
  return mine.whom != nullptr;
}

void file_wait::fire(rt::interrupt& i, M* m) noexcept { rt::wake(m, static_cast<stop&>(i).whom); }

// Inside. False: not all of them can be watched.
bool file_wait::watch_all(M* m) noexcept {
  bool fresh = false;
  rt::poll::completions woken;
  for (unsigned i = 0; i < n_ && error == 0; ++i) {
    rt::poll::watched& w = watches_[i];
    if (w.fd < 0) continue;
    w.of = &party_;
    const int refused = rt::poll::watch(w, woken);
    fresh |= w.fresh;
    // One that is not open any more ends the wait. So does a kind of file that is always ready: the
    // number has come to mean it since we looked. For anything else such a file is never ready.
    if (refused == EBADF || (refused == EPERM && (w.wants & kAlwaysReady) != 0)) {
      end_party(party_);
    } else if (refused != EPERM) {
      error = refused;
    }
  }
  while (waiter* const other = woken.pop()) rt::wake(m, other, rt::poll::kReadyAgain);
  if (fresh) rt::network_in_use();
  return error == 0;
}

// Inside. True: commit.
bool file_wait::begin(M* m) noexcept {
  if (by_ != nullptr && !by_->arm(stop_)) {
    canceled_.store(true, relaxed);
    return false;
  }
  return watch_all(m) && !is_over(party_);
}

// Inside. A plain thread looks at the clock by itself.
void file_wait::start_clock(M* m) noexcept {
  if (m == nullptr) return rt::network_in_use();  // somebody is to look
  if (until_ != INT64_MAX) rt::add_timer(m, &clock_, until_);
  clock_set_ = until_ != INT64_MAX;
  if (m->curg->homed) m->p->hooked_waits.add_owner();
}

// User context, or the runtime's end.
void file_wait::end() noexcept {
  const rt::undisturbed here;
  for (unsigned i = 0; i < n_; ++i) rt::poll::unwatch(watches_[i]);
}

// The runtime has ended; nobody else is inside.
void file_wait::abandon(void* self, waiter* w) noexcept {
  auto& mine = *static_cast<file_wait*>(self);
  if (mine.over_.exchange(1, seq_cst) != 0) return;  // it is back in user code
  w->object = nullptr;
  if (mine.stop_.linked) mine.by_->disarm(mine.stop_);
  mine.end();
}

file_wait::outcome file_wait::result() const noexcept {
  if (error != 0) return outcome::refused;
  if (canceled_.load(seq_cst)) return outcome::canceled;
  return late_.load(seq_cst) ? outcome::late : outcome::again;
}

// A plain thread's clock. False: somebody wakes it this very moment.
bool file_wait::is_late() noexcept {
  late_.store(true, seq_cst);
  return end_party(party_) != nullptr;
}

file_wait::outcome file_wait::wait() noexcept {
  rt::place mine;
  waiter& who = mine.whose();
  party_.who = &who;
  who.unlink = &abandon;
  compiler_barrier();
  who.object = this;
  M* m = rt::enter_either_started();
  const bool sleeps = begin(m);
  if (sleeps) {
    start_clock(m);
    mine.self(m, this, &abandon);
    const rt::commit_fn commit = [](G*, void* party) noexcept {
      return fall_asleep(*static_cast<rt::poll::party*>(party));
    };
    mine.sleep_until(m, rt::by_commit{commit, &party_}, rt::wait_reason::network, until_,
                     [this] { return is_late(); });
    if (by_ != nullptr) m = rt::enter_either();
  }
  if (!sleeps || by_ != nullptr) {
    if (by_ != nullptr) by_->disarm(stop_);
    rt::leave_either(m);
  }
  end();
  if (clock_set_) rt::stop_timer(&clock_);
  if (over_.exchange(1, seq_cst) != 0) {  // abandoned, on the last step
    rt::enter();
    os::park_forever();
  }
  who.object = nullptr;
  return result();
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
