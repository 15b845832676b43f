// The floor under rows whose price is the kernel's: a guard and a first page for every stack.
//
// Note   mapped as ours are, but for one range per thread, writable from the start: threads then
//        share no mapping.
#include "floor.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

namespace bench {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, Linux 6.13
constexpr int kPidfdSelf = -10000;  // PIDFD_SELF_THREAD, Linux 6.14

std::byte* reserve(std::size_t bytes) {
  constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kKind, -1, 0);
  if (at == MAP_FAILED) {
    std::perror("floor_bench: mmap");
    std::exit(1);
  }
  madvise(at, bytes, MADV_NOHUGEPAGE);
  return static_cast<std::byte*>(at);
}

long rss_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  return 0;
}

double cpu_ns() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

}  // namespace

stack_range::stack_range(std::size_t n)
    : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
      stride_(kStackBytes + page_),
      bytes_(n * stride_),
      base_(reserve(bytes_)) {}

stack_range::~stack_range() { munmap(base_, bytes_); }

void stack_range::guard(std::size_t first, std::size_t n) {
  std::array<iovec, kBatch> pages;
  for (std::size_t i = 0; i < n; ++i) pages[i] = {base_ + (first + i) * stride_, page_};
  const long bytes = syscall(SYS_process_madvise, kPidfdSelf, pages.data(), n, kGuardInstall, 0);
  std::size_t done = bytes < 0 ? 0 : static_cast<std::size_t>(bytes) / page_;
  for (; done < n; ++done) {
    if (madvise(pages[done].iov_base, page_, kGuardInstall) == 0) continue;
    std::perror("floor_bench: MADV_GUARD_INSTALL");
    std::exit(1);
  }
}

namespace {

// What is known of one that waits: where on its stack it will go on.
struct alignas(64) record {
  std::byte* frame;
  std::byte rest[248];
};
static_assert(sizeof(record) == 256);

// One thread's share of those that wait.
class crowd {
 public:
  explicit crowd(std::size_t n) : n_(n), stacks_(n), records_(n + 2 * kAhead) {
    for (std::size_t i = 0; i < n; ++i) records_[i].frame = stacks_.top(i) - 64;
  }
  void park() {
    for (std::size_t first = 0; first < n_; first += stack_range::kBatch) {
      const std::size_t end = std::min(first + stack_range::kBatch, n_);
      stacks_.guard(first, end - first);
      for (std::size_t i = first; i < end; ++i) *(stacks_.top(i) - 64) = std::byte{1};
    }
  }
  void wake() {
    for (std::size_t i = 0; i < n_; ++i) {
      __builtin_prefetch(&records_[i + 2 * kAhead], 1);
      __builtin_prefetch(records_[i + kAhead].frame, 1);
      *records_[i].frame = std::byte{2};
    }
  }

 private:
  static constexpr std::size_t kAhead = 12;

  std::size_t n_;
  stack_range stacks_;
  std::vector<record> records_;
};

// Counted: guard and first touch of every stack; for the wake, the line of a record and one of the
// stack, fetched ahead. All cores. Left out: the record's own page (it might lie on the stack),
// starting and ending anything, the channel's queue, and every look for who runs next.
int parked(int n) {
  std::vector<std::unique_ptr<crowd>> all;
  for (const std::size_t share : shares_of(static_cast<std::size_t>(n)))
    all.push_back(std::make_unique<crowd>(share));
  const long before = rss_kb();
  const stopwatch watch;
  on_threads(all.size(), [&all](std::size_t k) { all[k]->park(); });
  const double spawn = watch.ns() / n;
  report("parked_bytes", static_cast<double>(rss_kb() - before) * 1024 / n, "B/goroutine");
  report("parked_spawn", spawn, "ns/goroutine");
  const stopwatch waking;
  on_threads(all.size(), [&all](std::size_t k) { all[k]->wake(); });
  report("parked_wakeall", waking.ns() / n, "ns/goroutine");
  return 0;
}

// Sleepers of 0 to 999 ms, in turn. A stack whose sleeper is done is the next one's, without a guard
// or a touch; hence the sooner all are started, the more stacks.
void put_to_sleep(stack_range& stacks, std::size_t n) {
  constexpr std::size_t kLongest = 1000, kBatch = stack_range::kBatch;
  std::array<std::size_t, 1024> ending{};  // how many, by the ms at which they end; a ring
  std::size_t made = 0, free = 0, ms = 0;
  const stopwatch watch;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % kBatch == 0)
      for (const auto now = static_cast<std::size_t>(watch.ms()); ms < now; ++ms)
        free += std::exchange(ending[ms % ending.size()], 0);
    ++ending[(ms + i % kLongest) % ending.size()];
    if (free != 0) {
      --free;
      continue;
    }
    if (made % kBatch == 0) stacks.guard(made, std::min(kBatch, n - made));
    *(stacks.top(made++) - 64) = std::byte{1};
  }
}

// Counted: guard and first touch of as many stacks as are in use at once when one core starts all,
// as fast as that goes. (Two are sooner done, but take a fifth more of processor time: they wait for
// each other in the kernel, and need more stacks.) Left out: timers, the sleep, waking up, ending.
int sleepers(int n) {
  stack_range range(static_cast<std::size_t>(n));
  const double cpu = cpu_ns();
  put_to_sleep(range, static_cast<std::size_t>(n));
  report("sleepers_cpu", (cpu_ns() - cpu) / n, "ns/goroutine");
  return 0;
}

constexpr benchmark kStacks[] = {
    {"parked", parked, 1'000'000},
    {"sleepers", sleepers, 200'000},
};

}  // namespace

std::span<const benchmark> stacks() { return kStacks; }

}  // namespace bench
