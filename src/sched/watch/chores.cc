#include "sched/watch/chores.h"

#include "arch/sanitizer.h"
#include "os/os.h"
#include "sched/hold/strict.h"
#include "sched/hold/thread_maker.h"
#include "sched/hold/world.h"
#include "sched/policy/slices.h"
#include "sched/state.h"
#include "sched/work/env.h"
#include "stack/depot.h"

namespace vole::rt::sysmon {
namespace {

struct times {  // when each was last done
  std::int64_t trimmed_at, counted_at, asked_at, stormed_at;
};
constinit times last{};

bool captured_hold_up(std::int64_t now) noexcept {
  return sched.captured_ms.load(relaxed) != 0 &&
         (sched.unmanned.load(relaxed) || thread_maker::is_held_up(now));
}

}  // namespace

void begin_chores(std::int64_t now) noexcept { last = {now, now, now, now}; }

std::size_t trim_stacks(std::int64_t now) noexcept {
  if (arch::kThreadSanitizer) return 0;  // the sanitizer's records lie in the pages
  if (now - last.trimmed_at < kSecond) return 1;
  last.trimmed_at = now;
  return depot::trim();
}

void follow_cpu_count(std::int64_t now) noexcept {
  if (sched.settings.procs != 0 || now - last.counted_at < kSecond) return;
  last.counted_at = now;
  const auto n = static_cast<std::uint32_t>(os::cpu_count());
  if (n == sched.procs.load(seq_cst) || n > kMaxProcs) return;
  world::stop("max_procs");
  if (sched.settings.procs == 0) world::resize(n);
  world::start();
}

void ask_for_threads(std::int64_t now) noexcept {
  if (!sched.unmanned.load(relaxed) || now - last.asked_at < kUnsettledCheck) return;
  last.asked_at = now;
  sched.unmanned.store(false, seq_cst);
  submit();
}

void release_captured(std::int64_t now) noexcept {
  if (captured_hold_up(now)) strict::release_all_captured();
}

std::int64_t storm(std::int64_t now, std::int64_t delay) noexcept {
  const std::int64_t period = sched.settings.storm_us * kMicro;
  if (period == 0 || strict::on()) return delay;  // there it is the slice
  std::int64_t due = last.stormed_at + period - now;
  if (due <= 0) {
    slices::evict_all();
    last.stormed_at = now;
    due = period;
  }
  return delay < due ? delay : due;
}

}  // namespace vole::rt::sysmon
