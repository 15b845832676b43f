// The functions that an interposing library calls: vole/detail/foreign.h.

#include <vole/detail/foreign.h>

#include <memory>
#include <new>

#include "os/net.h"
#include "net/file_wait.h"
#include "os/os.h"
#include "sched/life/belonging.h"
#include "sched/life/call.h"
#include "sched/park.h"
#include "sched/wait/deadline.h"
#include "sched/work/home.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace foreign {
namespace {

using rt::poll::watched;

constexpr unsigned kFew = 4;
constexpr short kClosed = POLLNVAL;

int in_place(pollfd* fds, unsigned n, std::int64_t deadline) noexcept {
  const os::result r = os::net::poll(fds, n, deadline);
  return r.ok() ? static_cast<int>(r.value) : -r.error;
}

int blocking(pollfd* fds, unsigned n, std::int64_t deadline) noexcept {
  const call_at_home here;
  return in_place(fds, n, deadline);
}

// What is to be said of a wait that has ended: how many are ready; 0: wait on.
int take_stock(pollfd* fds, const watched* watches, unsigned n) noexcept {
  const watched& first = watches[0];
  if (n == 1 && !first.closed && first.came != 0) {
    fds[0].revents = static_cast<short>(first.came);
    return 1;
  }
  int ready = in_place(fds, n, 0);
  if (ready < 0) return ready;
  for (unsigned i = 0; i < n; ++i) {
    if (fds[i].fd < 0 || !watches[i].closed) continue;
    ready += fds[i].revents == 0 ? 1 : 0;
    fds[i].revents = kClosed;
  }
  return ready;
}

int park(pollfd* fds, watched* watches, unsigned n, std::int64_t deadline) noexcept {
  for (unsigned i = 0; i < n; ++i) {
    watches[i].fd = fds[i].fd;
    watches[i].wants = static_cast<unsigned short>(fds[i].events);
  }
  for (;;) {
    file_wait w(watches, n, deadline, nullptr);
    const file_wait::outcome o = w.wait();
    if (o == file_wait::outcome::refused) return blocking(fds, n, deadline);
    if (const int ready = take_stock(fds, watches, n); ready != 0) return ready;
    if (o == file_wait::outcome::late) return 0;
  }
}

bool is_watched(unsigned first, unsigned last) noexcept {
  const rt::undisturbed here;
  return rt::poll::is_watched(first, last);
}

struct many {
  explicit many(unsigned n) noexcept : first(new (std::nothrow) watched[n]) {}
  std::unique_ptr<watched[]> first;
};

}  // namespace

std::int64_t now_ns() noexcept { return os::now_ns(); }

bool can_park() noexcept { return rt::may_park_here(); }

int wait_fds(pollfd* fds, unsigned n, std::int64_t deadline) noexcept {
  if (deadline != kNoDeadline && deadline <= os::now_ns()) return in_place(fds, n, 0);
  if (os::signals_are_blocked()) return in_place(fds, n, deadline);
  const rt::home::at_home home;
  if (n <= kFew) {
    watched few[kFew];
    return park(fds, few, n, deadline);
  }
  rt::belonging<many> watches(n);
  if (watches->first == nullptr) return blocking(fds, n, deadline);
  return park(fds, watches->first.get(), n, deadline);
}

void sleep_home(std::int64_t deadline) noexcept {
  if (deadline <= os::now_ns()) return;
  if (os::signals_are_blocked()) return (void)in_place(nullptr, 0, deadline);
  const rt::home::at_home home;
  rt::sleep_goroutine_until(deadline, rt::wait_reason::sleep);
}

call_at_home::call_at_home() noexcept : told_(can_park()) {
  if (!told_) return;
  const rt::home::at_home home;
  rt::begin_call();
}
call_at_home::~call_at_home() {
  if (!told_) return;
  const rt::home::at_home home;
  rt::end_call();
}

void closing::begin() noexcept {
  tells_ = rt::may_wake_here();
  if (!tells_) return;
  const rt::undisturbed here;
  rt::poll::begin_closing(first_, last_);
}

void closing::end() noexcept {
  if (!tells_ || !is_watched(first_, last_)) return;
  const rt::home::at_home home;
  rt::M* const m = rt::on_goroutine() ? rt::enter() : nullptr;
  if (m == nullptr) rt::guest_enter();
  rt::poll::completions woken;
  rt::poll::end_closing(first_, last_, done_, woken);
  while (rt::waiter* const w = woken.pop()) rt::wake(m, w, rt::poll::kReadyAgain);
  m != nullptr ? rt::leave(m) : rt::guest_leave();
}

bool is_to_give_way() noexcept { return rt::is_asked(rt::this_m()); }
void give_way() noexcept {
  if (os::signals_are_blocked()) return;  // in a handler: others would run with its mask
  const rt::home::at_home home;
  rt::checkpoint();
}

}  // namespace foreign
}  // namespace detail
}  // namespace v0
}  // namespace vole
