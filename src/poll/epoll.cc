// The poller on Linux: one epoll, edge-triggered, and one eventfd to break a wait.
//
// Note   each file is registered once, for everything. Edge-triggered: an event comes when
//        something happens, and readers read until the kernel says "would block" or, on TCP, gives
//        less than they asked for, so that no state is left behind and no call is needed to re-arm.
//        The eventfd is level-triggered: a look that meets a break meant for the blocking wait
//        leaves it there.

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/fatal.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/race.h"
#include "base/slab.h"
#include "os/os.h"
#include "poll/poll.h"
#include "poll/watch.h"

namespace vole::rt::poll {
namespace {

constexpr int kBatch = 128;
constexpr std::uint64_t kBreak = 0;  // the eventfd's user data; no descriptor lies at 0

struct kernel_side {
  atomic<int> epoll{-1};              // written once, under lock
  atomic<int> event{-1};
  atomic<std::uint32_t> broken{0};    // a break is on its way
  atomic<std::size_t> open{0};
  atomic<bool> no_nanoseconds{false};
  base::lock<lock_rank::poll> lock;
  lifo<descriptor, &descriptor::next> free;  // under lock
};
constinit kernel_side kernel;
constinit slab<descriptor> descriptors;

std::uint64_t pack(const descriptor* d, std::uint32_t tag) noexcept {
  return (reinterpret_cast<std::uintptr_t>(d) >> 6 << kTagBits) | (tag & kTagMask);
}
descriptor* unpack(std::uint64_t data) noexcept {
  return reinterpret_cast<descriptor*>(data >> kTagBits << 6);
}

epoll_event everything(const descriptor* d) noexcept {
  epoll_event e{};
  e.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET;
  e.data.u64 = pack(d, d->tag.load(relaxed));
  return e;
}

// 0 or errno.
int start_locked() noexcept {
  if (kernel.epoll.load(relaxed) >= 0) return 0;
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return errno;
  const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event in{};
  in.events = EPOLLIN;
  in.data.u64 = kBreak;
  if (event < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event, &in) != 0) {
    const int error = errno;
    if (event >= 0) ::close(event);
    ::close(epoll);
    return error;
  }
  kernel.event.store(event, relaxed);
  kernel.epoll.store(epoll, std::memory_order_release);  // pairs: wait, interrupt
  return 0;
}

descriptor* take_locked() noexcept {
  descriptor* const d = kernel.free.pop();
  return d != nullptr ? d : descriptors.allocate_raw();
}

int epoll_wait_ns(int epoll, epoll_event* events, std::int64_t timeout) noexcept {
  const race::unseen here;
  if (timeout <= 0) return epoll_wait(epoll, events, kBatch, timeout == 0 ? 0 : -1);
  if (!kernel.no_nanoseconds.load(relaxed)) {
    const timespec t{timeout / 1'000'000'000, timeout % 1'000'000'000};
    const long n = syscall(SYS_epoll_pwait2, epoll, events, kBatch, &t, nullptr, 0);
    if (n >= 0 || errno != ENOSYS) return static_cast<int>(n);
    kernel.no_nanoseconds.store(true, relaxed);  // before Linux 5.11: whole milliseconds
  }
  const std::int64_t ms = (timeout - 1) / 1'000'000 + 1;
  return epoll_wait(epoll, events, kBatch, ms < 86'400'000 ? static_cast<int>(ms) : 86'400'000);
}

void take_break(bool blocking) noexcept {
  if (!blocking) return;  // it is meant for the one that blocks
  std::uint64_t count;
  [[maybe_unused]] const auto n = read(kernel.event.load(relaxed), &count, sizeof(count));
  kernel.broken.store(0, seq_cst);
}

void complete(const epoll_event& e, completions& done) noexcept {
  descriptor& d = *unpack(e.data.u64);
  const std::uint32_t tag = e.data.u64 & kTagMask;
  if ((d.tag.load(std::memory_order_acquire) & kTagMask) != tag) return;
  if (d.foreign) return complete_watched(d, {e.events, tag}, done);
  constexpr std::uint32_t kBoth = EPOLLERR | EPOLLHUP;
  if ((e.events & (EPOLLRDHUP | EPOLLPRI | kBoth)) != 0) d.odd.store(true, seq_cst);
  if ((e.events & (EPOLLIN | EPOLLRDHUP | EPOLLPRI | kBoth)) != 0)
    if (waiter* const w = unblock(d, way::in, true)) done.push(w);
  if ((e.events & (EPOLLOUT | kBoth)) != 0)
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
  epoll_event e = everything(d);
  if (epoll_ctl(kernel.epoll.load(relaxed), EPOLL_CTL_ADD, fd, &e) == 0) {
    kernel.open.fetch_add(1, seq_cst);
    *out = d;
    return 0;
  }
  error = errno;
  d->fd = -1;
  holding hold(kernel.lock);
  kernel.free.push(d);
  return error;
}

void close(descriptor* d) noexcept {
  const race::unseen here;
  d->tag.fetch_add(1, seq_cst);  // events on their way are not for the next one
  epoll_event none{};
  if (epoll_ctl(kernel.epoll.load(relaxed), EPOLL_CTL_DEL, d->fd, &none) != 0 && errno != ENOENT &&
      errno != EBADF)
    fatal("poll: the kernel does not let go of a file that it watches");
  kernel.open.fetch_sub(1, seq_cst);
  d->fd = -1;
  holding hold(kernel.lock);
  kernel.free.push(d);
}

void start_again_in_child() noexcept {
  if (kernel.epoll.load(relaxed) < 0) return;
  ::close(kernel.event.exchange(-1, relaxed));
  ::close(kernel.epoll.exchange(-1, relaxed));
  kernel.broken.store(0, relaxed);
  if (start_locked() != 0) fatal(
        "poll: a forked child cannot make its poller. Is the limit of open files (ulimit -n) "
        "reached?");
  descriptors.for_each([](descriptor* d) {
    if (d->fd < 0) return;
    epoll_event e = everything(d);
    epoll_ctl(kernel.epoll.load(relaxed), EPOLL_CTL_ADD, d->fd, &e);
  });
  forget_registrations();
}

// Once the number has meant another file, which of the two calls is right is a guess.
int arm(descriptor& d, int fd, std::uint32_t events, bool* another) noexcept {
  const int epoll = kernel.epoll.load(relaxed);
  epoll_event e{};
  e.events = events | EPOLLONESHOT;
  e.data.u64 = pack(&d, d.tag.load(relaxed));
  *another = false;
  if (d.fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e) == 0) return 0;
  if (d.fd >= 0 && errno != ENOENT) return errno;
  *another = d.fd >= 0;
  d.fd = fd;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0) return 0;
  if (errno == EEXIST && epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e) == 0) return 0;
  d.fd = -1;
  return errno;
}

bool start_and_count() noexcept {
  if (start() != 0) return false;
  kernel.open.fetch_add(1, seq_cst);
  return true;
}

std::size_t open_count() noexcept { return kernel.open.load(seq_cst); }

void wait(std::int64_t timeout, completions& done) noexcept {
  const int epoll = kernel.epoll.load(std::memory_order_acquire);  // pairs: start_locked
  epoll_event events[kBatch];
  const int n = epoll_wait_ns(epoll, events, timeout);
  if (n < 0 && errno != EINTR) fatal("poll: epoll_wait failed");
  for (int i = 0; i < n; ++i) {
    if (events[i].data.u64 == kBreak) {
      take_break(timeout != 0);
    } else {
      complete(events[i], done);
    }
  }
}

void interrupt() noexcept {
  const race::unseen here;
  if (kernel.broken.exchange(1, seq_cst) != 0) return;
  const std::uint64_t one = 1;
  while (write(kernel.event.load(relaxed), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void for_each_wait(void (*fn)(descriptor& d, way w, void* arg) noexcept, void* arg) noexcept {
  descriptors.for_each([=](descriptor* d) {
    for (const way w : {way::in, way::out})
      if (word_of(*d, w).load(seq_cst) > descriptor::kWait) fn(*d, w, arg);
  });
}

}  // namespace vole::rt::poll
