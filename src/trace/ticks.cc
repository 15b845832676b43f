// How long a tick is: the processor's counter, halved or doubled until one takes at most 4 ns.

#include "arch/ticks.h"
#include "os/os.h"
#include "trace/recording.h"
#include "trace/shared.h"

namespace vole::rt::trace {
namespace {

constexpr std::int64_t kCompared = 5 * 1000 * 1000;  // ns that the clocks are compared for
constexpr double kFewest = 1e9 / 4;                  // ticks in a second

double counted_in_a_second() noexcept {
  atomic<std::uint32_t> never{0};
  const std::int64_t from = os::now_ns();
  const std::uint64_t ticks = arch::ticks();
  std::int64_t to;
  while ((to = os::now_ns()) < from + kCompared) futex_wait_for(&never, 0, from + kCompared - to);
  const std::uint64_t passed = arch::ticks() - ticks;
  return static_cast<double>(passed) * 1e9 / static_cast<double>(to - from);
}

}  // namespace

std::uint64_t measure_ticks() noexcept {
  int shift = 0;
  double scaled = counted_in_a_second();
  while (scaled / 2 >= kFewest) {
    scaled /= 2;
    ++shift;
  }
  while (scaled < kFewest) {
    scaled *= 2;
    --shift;
  }
  shared.shift.store(shift, relaxed);
  return static_cast<std::uint64_t>(scaled);
}

}  // namespace vole::rt::trace
