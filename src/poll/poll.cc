// The poller: one event set of the kernel's (os/events.h) for all files.
//
// Note   each file is registered once, for everything. An event comes when something happens, and
//        readers read until the kernel says "would block" or, on TCP, gives less than they asked for,
//        so that no state is left behind and no call is needed to re-arm. A look that meets a ring
//        meant for the blocking wait leaves the bell ringing.
#include "poll/poll.h"

#include <poll.h>

#include <cerrno>

#include "base/fatal.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/race.h"
#include "base/slab.h"
#include "os/events.h"
#include "poll/watch.h"

namespace vole::rt::poll {
namespace {

struct kernel_side {
  os::event_set set;                // written once, under lock
  atomic<bool> there{false};        // it is
  atomic<std::uint32_t> broken{0};  // a break is on its way
  atomic<std::size_t> open{0};
  base::lock<lock_rank::poll> lock;
  lifo<descriptor, &descriptor::next> free VOLE_GUARDED_BY(lock);
};
constinit kernel_side kernel;
constinit slab<descriptor> descriptors;

std::uint64_t pack(const descriptor* d, std::uint32_t tag) noexcept {
  return (reinterpret_cast<std::uintptr_t>(d) >> 6 << kTagBits) | (tag & kTagMask);
}
descriptor* unpack(std::uint64_t data) noexcept {
  return reinterpret_cast<descriptor*>(data >> kTagBits << 6);
}

int watch_all(const descriptor* d) noexcept {
  return os::watch_changes(kernel.set, d->fd, pack(d, d->tag.load(relaxed)));
}

// 0 or errno.
int start_locked() noexcept {
  if (kernel.there.load(relaxed)) return 0;
  if (const int error = os::make_event_set(&kernel.set)) return error;
  kernel.there.store(true, std::memory_order_release);  // pairs: set_of_all
  return 0;
}

descriptor* take_locked() noexcept VOLE_REQUIRES(kernel.lock) {
  descriptor* const d = kernel.free.pop();
  return d != nullptr ? d : descriptors.allocate_raw();
}

// Null: start() has not been called.
const os::event_set* set_of_all() noexcept {
  return kernel.there.load(std::memory_order_acquire) ? &kernel.set
                                                      : nullptr;  // pairs: start_locked
}

int wait_for_events(os::event (&found)[os::kMostEvents], std::int64_t timeout) noexcept {
  const race::unseen here;
  const os::event_set* const set = set_of_all();
  return set != nullptr ? os::wait_for_events(*set, found, timeout) : -EBADF;
}

void take_break(bool blocking) noexcept {
  if (!blocking) return;  // it is meant for the one that blocks
  os::stop_ringing(kernel.set);
  kernel.broken.store(0, seq_cst);
}

void complete(const os::event& e, completions& done) noexcept {
  descriptor& d = *unpack(e.data);
  const std::uint32_t tag = e.data & kTagMask;
  if ((d.tag.load(std::memory_order_acquire) & kTagMask) != tag) return;
  if (d.foreign) return complete_watched(d, {e.what, tag}, done);
  constexpr std::uint32_t kBoth = POLLERR | POLLHUP, kOdd = os::kPeerIsDone | POLLPRI | kBoth;
  if ((e.what & kOdd) != 0) d.odd.store(true, seq_cst);
  if ((e.what & (POLLIN | kOdd)) != 0)
    if (waiter* const w = unblock(d, way::in, true)) done.push(w);
  if ((e.what & (POLLOUT | kBoth)) != 0)
    if (waiter* const w = unblock(d, way::out, true)) done.push(w);
}

}  // namespace

int start() noexcept {
  const race::unseen here;
  holding hold(kernel.lock);
  return start_locked();
}

int open(int fd, descriptor** out) noexcept {
  const race::unseen here;
  kernel.lock.acquire();
  int error = start_locked();
  descriptor* const d = error == 0 ? take_locked() : nullptr;
  kernel.lock.release();
  if (error != 0) return error;
  if (d == nullptr) return ENOMEM;
  for (auto& word : d->word) word.store(descriptor::kNil, relaxed);
  d->odd.store(false, relaxed);
  d->fd = fd;
  error = watch_all(d);
  if (error == 0) {
    kernel.open.fetch_add(1, seq_cst);
    *out = d;
    return 0;
  }
  d->fd = -1;
  holding hold(kernel.lock);
  kernel.free.push(d);
  return error;
}

void close(descriptor* d) noexcept {
  const race::unseen here;
  d->tag.fetch_add(1, seq_cst);  // events on their way are not for the next one
  const int error = os::stop_watching(kernel.set, d->fd);
  if (error != 0 && error != ENOENT && error != EBADF)
    broken("poll: the kernel does not let go of a file that it watches");
  kernel.open.fetch_sub(1, seq_cst);
  d->fd = -1;
  holding hold(kernel.lock);
  kernel.free.push(d);
}

void start_again_in_child() noexcept {
  if (!kernel.there.exchange(false, relaxed)) return;
  os::drop_event_set(kernel.set);
  kernel.broken.store(0, relaxed);
  if (start_locked() != 0)
    fatal(
        "poll: a forked child cannot make its poller. Is the limit of open files (ulimit -n) "
        "reached?");
  descriptors.for_each([](descriptor* d) {
    if (d->fd < 0) return;
    static_cast<void>(watch_all(d));  // a file that cannot be watched will say so when it is used
  });
  forget_registrations();
}

// Once the number has meant another file, which of the two calls is right is a guess.
int arm(descriptor& d, int fd, std::uint32_t events, bool* another) noexcept {
  const race::unseen here;  // TSan knows of no use of the number that it had before
  const std::uint64_t data = pack(&d, d.tag.load(relaxed));
  *another = false;
  if (d.fd >= 0) {
    const int error = os::again_once(kernel.set, fd, events, data);
    if (error != ENOENT) return error;
    *another = true;
  }
  int error = os::watch_once(kernel.set, fd, events, data);
  if (error == EEXIST) error = os::again_once(kernel.set, fd, events, data);
  d.fd = error == 0 ? fd : -1;
  return error;
}

bool start_and_count() noexcept {
  if (start() != 0) return false;
  kernel.open.fetch_add(1, seq_cst);
  return true;
}

std::size_t open_count() noexcept { return kernel.open.load(seq_cst); }

[[noreturn, gnu::cold]] void lost_the_events(int error) noexcept {
  fatal(base::sentence()
        << "poll: waiting for the network failed with error " << error
        << ". Has the program closed a descriptor that it had not opened? vole's own are "
           "among those above 2, and a loop that closes them all must leave them out");
}

void wait(std::int64_t timeout, completions& done) noexcept {
  os::event found[os::kMostEvents];
  const int n = wait_for_events(found, timeout);
  if (n < 0 && n != -EINTR) lost_the_events(-n);
  for (int i = 0; i < n; ++i) {
    if (found[i].data == os::kRung) {
      take_break(timeout != 0);
    } else {
      complete(found[i], done);
    }
  }
}

void interrupt() noexcept {
  const race::unseen here;
  if (kernel.broken.exchange(1, seq_cst) != 0) return;
  if (const os::event_set* const set = set_of_all()) os::ring(*set);
}

void for_each_wait(void (*fn)(descriptor& d, way w, void* arg) noexcept, void* arg) noexcept {
  descriptors.for_each([=](descriptor* d) {
    for (const way w : {way::in, way::out})
      if (word_of(*d, w).load(seq_cst) > descriptor::kWait) fn(*d, w, arg);
  });
}

}  // namespace vole::rt::poll
