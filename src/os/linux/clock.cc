#include <sys/resource.h>

#include <ctime>

#include "base/system.h"
#include "os/os.h"

namespace vole::os {
namespace {

std::int64_t read_clock(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

std::int64_t now_ns() noexcept { return read_clock(CLOCK_MONOTONIC); }

std::uint64_t random_seed() noexcept { return static_cast<std::uint64_t>(now_ns()); }

std::int64_t thread_cpu_ns() noexcept { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

std::int64_t thread_sleeps() noexcept {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

std::int64_t cpu_ns_of(std::uint64_t thread_id) noexcept {
  // The same clock id as pthread_getcpuclockid's, for a thread that may have ended.
  constexpr std::uint32_t kPerThread = 4, kCpuTime = 2;
  const auto clock = static_cast<clockid_t>((~static_cast<std::uint32_t>(thread_id) << 3) |
                                            kPerThread | kCpuTime);
  timespec t{};
  if (clock_gettime(clock, &t) != 0) return -1;
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace vole::os

namespace vole::base {

std::uint32_t clock_us() noexcept { return static_cast<std::uint32_t>(os::now_ns() / 1000); }

}  // namespace vole::base
