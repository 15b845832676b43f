#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string_view>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/race.h"
#include "os/linux/line_reader.h"
#include "os/os.h"

namespace vole::os {
namespace {

static_assert(sizeof(pthread_t) == sizeof(std::uint64_t));

constinit sigset_t saved_mask{};
constinit base::atomic<bool> mask_saved{false};
constinit base::atomic<std::uint32_t> never{0};

// The arguments of a new thread. They have pages of their own: the child must not need malloc.
struct birth {
  thread_spec spec;
  sigset_t mask;
};

// Faults stay open: a blocked one would kill the process without a word.
sigset_t all_but_faults() noexcept {
  sigset_t set;
  sigfillset(&set);
  for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) sigdelset(&set, s);
  return set;
}

// The runtime's own threads order nobody's code.
void run(const thread_spec& spec) noexcept {
  if (spec.runs_for_users) return spec.main(spec.arg);
  unwatch_thread_locals();
  const base::race::unseen here;
  spec.main(spec.arg);
}

extern "C" void* vole_thread_main(void* argument) {
  auto* const record = static_cast<birth*>(argument);
  const birth b = *record;
  base::unmap_pages(record, page_size());
  prctl(PR_SET_NAME, b.spec.name);
  if (!b.spec.block_signals) pthread_sigmask(SIG_SETMASK, &b.mask, nullptr);
  run(b.spec);
  return nullptr;
}

extern "C" void* vole_plain_thread_main(void* main) {
  std::bit_cast<void (*)() noexcept>(main)();
  return nullptr;
}

int start(pthread_t* t, std::size_t stack_bytes, void* record) noexcept {
  pthread_attr_t attributes;
  if (const int e = pthread_attr_init(&attributes)) return e;
  int error = pthread_attr_setstacksize(&attributes, stack_bytes);
  if (error == 0) error = pthread_create(t, &attributes, vole_thread_main, record);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

int create_thread(thread* t, const thread_spec& spec) noexcept {
  void* const pages = base::map_pages(page_size());
  if (pages == nullptr) return ENOMEM;
  auto* const record = new (pages) birth{spec, {}};

  const sigset_t blocked = all_but_faults();
  sigset_t callers;
  pthread_sigmask(SIG_BLOCK, &blocked, &callers);  // the child starts with this mask
  const bool saved = mask_saved.load(std::memory_order_acquire);  // pairs: save_signal_mask
  record->mask = saved ? saved_mask : callers;
  // EINVAL: the program's thread-local variables alone need more stack than that.
  pthread_t made{};
  int error = EINVAL;
  for (std::size_t kib = 256; kib <= 16 * 1024 && error == EINVAL; kib *= 4)
    error = start(&made, kib * 1024, record);
  pthread_sigmask(SIG_SETMASK, &callers, nullptr);

  if (error == 0) {
    t->handle = std::bit_cast<std::uint64_t>(made);
  } else {
    base::unmap_pages(pages, page_size());
  }
  return error;
}

int start_plain_thread(void (*main)() noexcept) noexcept {
  pthread_t made{};
  const int error =
      pthread_create(&made, nullptr, vole_plain_thread_main, std::bit_cast<void*>(main));
  if (error == 0) pthread_detach(made);
  return error;
}

void join_thread(thread t) noexcept { pthread_join(std::bit_cast<pthread_t>(t.handle), nullptr); }

void detach_thread(thread t) noexcept { pthread_detach(std::bit_cast<pthread_t>(t.handle)); }

bool signals_are_blocked() noexcept {
  std::uint64_t here = 0, usual = 0;
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  std::memcpy(&here, &now, sizeof(here));
  std::memcpy(&usual, &saved_mask, sizeof(usual));
  return (here & ~usual) != 0;
}

void save_signal_mask() noexcept {
  pthread_sigmask(SIG_SETMASK, nullptr, &saved_mask);
  mask_saved.store(true, std::memory_order_release);  // pairs: create_thread
}

void park_forever() noexcept {
  for (;;) base::futex_wait(&never, 0);
}

thread this_thread() noexcept { return {std::bit_cast<std::uint64_t>(pthread_self())}; }

std::uint32_t thread_count() noexcept {
  line_reader status("/proc/self/status");
  std::string_view line;
  while (status.next(&line)) {
    constexpr std::string_view kKey = "Threads:\t";
    if (line.substr(0, kKey.size()) != kKey) continue;
    std::uint32_t n = 0;
    for (const char c : line.substr(kKey.size()))
      if (c >= '0' && c <= '9') n = n * 10 + static_cast<std::uint32_t>(c - '0');
    return n;
  }
  return ~std::uint32_t{0};
}

void sharpen_timeouts() noexcept { prctl(PR_SET_TIMERSLACK, 1UL); }

void yield_thread() noexcept { sched_yield(); }

std::uint64_t thread_id() noexcept { return static_cast<std::uint64_t>(syscall(SYS_gettid)); }

}  // namespace vole::os
