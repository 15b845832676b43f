// Guard pages, cheap ones and dear ones.
//
// Note   one process_madvise for 64 guards costs a third less than 64 madvise calls
//        (1.0 against 1.6 us each on Linux 6.18); larger batches bring no more. A
//        kernel that has the guards but not the pidfd for oneself gets single calls.
// Note   an emulator may answer yes to an madvise that it does not know. The first guard is therefore
//        tried: the kernel must refuse to read from it.
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/linux/bare_calls.h"
#include "base/atomic.h"
#include "os/os.h"

namespace vole::os {
namespace {

constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, Linux 6.13
constexpr int kPidfdSelf = -10000;  // PIDFD_SELF_THREAD, Linux 6.14
constexpr std::size_t kBatch = 64;

// How many of the first n pages one call has guarded; the rest is for others to try.
std::size_t guard_batch(std::byte* first, std::size_t stride, std::size_t n) noexcept {
  const std::size_t page = page_size();
  iovec ranges[kBatch];
  for (std::size_t i = 0; i < n; ++i) ranges[i] = {first + i * stride, page};
  const long bytes = syscall(SYS_process_madvise, kPidfdSelf, ranges, n, kGuardInstall, 0);
  return bytes < 0 ? 0 : static_cast<std::size_t>(bytes) / page;
}

// The kernel is asked to read a time to sleep from the page: none, if it can be read, for it is new.
// This takes no descriptor, and valgrind does not look at the page itself, as it does at signals.
bool is_refused(const std::byte* page) noexcept {
  return syscall(SYS_nanosleep, page, nullptr) != 0;
}

enum class trust : std::uint32_t { untried, holds, is_hollow };
constinit base::atomic<trust> guards{trust::untried};

// Does a guard that the kernel says it has made keep anybody out?
bool holds(const std::byte* page) noexcept {
  trust t = guards.load(base::relaxed);
  if (t == trust::untried) {
    t = is_refused(page) ? trust::holds : trust::is_hollow;
    guards.store(t, base::relaxed);
  }
  return t == trust::holds;
}

constexpr std::size_t kUsualLimit = 65530;
constinit base::atomic<std::size_t> limit{0};  // 0: not read yet

std::size_t read_limit() noexcept {
  char text[32];
  const int fd = ::open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  const long n = fd < 0 ? 0 : bare::read(fd, text, sizeof text);
  if (fd >= 0) bare::close(fd);
  std::size_t value = 0;
  for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; ++i)
    value = value * 10 + static_cast<std::size_t>(text[i] - '0');
  return value != 0 ? value : kUsualLimit;
}

}  // namespace

int install_guards(std::byte* first, std::size_t stride, std::size_t count) noexcept {
  const std::size_t page = page_size();
  std::size_t done = 0;
  if (guards.load(base::relaxed) == trust::is_hollow) return ENOSYS;
  while (done < count) {
    const std::size_t n = count - done < kBatch ? count - done : kBatch;
    const std::size_t guarded = n > 1 ? guard_batch(first + done * stride, stride, n) : 0;
    done += guarded;
    if (guarded != 0) continue;
    // The single call says why, and is the only way on a kernel without the batch.
    if (madvise(first + done * stride, page, kGuardInstall) != 0) return errno;
    ++done;
  }
  return count == 0 || holds(first) ? 0 : ENOSYS;
}

int protect_page(std::byte* page) noexcept {
  return mprotect(page, page_size(), PROT_NONE) == 0 ? 0 : errno;
}

// A quarter is for the program's own files, heaps and threads.
std::size_t mapping_budget() noexcept {
  std::size_t n = limit.load(base::relaxed);
  if (n == 0) {
    n = read_limit();
    limit.store(n, base::relaxed);
  }
  return n - n / 4;
}

}  // namespace vole::os
