// base/system.h's futexes: private ones, since no word of ours is shared between processes.
#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"
#include "os/os.h"

namespace vole::base {
namespace {

long futex(const void* word, int operation, std::uint32_t value, const timespec* until) noexcept {
  return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, until, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

void futex_wait(atomic<std::uint32_t>* word, std::uint32_t expected) noexcept {
  futex(word, FUTEX_WAIT, expected, nullptr);
}

// The deadline is fixed once, so that neither a signal nor a stray wake-up moves it.
bool futex_wait_for(atomic<std::uint32_t>* word, std::uint32_t expected,
                    std::int64_t ns) noexcept {
  if (ns <= 0) return word->load(std::memory_order_acquire) != expected;
  const std::int64_t now = os::now_ns();
  const std::int64_t end = ns < INT64_MAX - now ? now + ns : INT64_MAX;
  const timespec until{static_cast<std::time_t>(end / 1'000'000'000),
                       static_cast<long>(end % 1'000'000'000)};
  while (word->load(std::memory_order_acquire) == expected) {
    if (futex(word, FUTEX_WAIT_BITSET, expected, &until) != 0 && errno == ETIMEDOUT) return false;
  }
  return true;
}

void futex_wake(atomic<std::uint32_t>* word, int n) noexcept {
  futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(n), nullptr);
}

}  // namespace vole::base
