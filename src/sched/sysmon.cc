#include "sched/sysmon.h"

#include "os/os.h"
#include "sched/env.h"
#include "sched/state.h"
#include "sched/world.h"

namespace vole::rt::sysmon {
namespace {

constexpr std::int64_t kMicro = 1000, kMilli = 1000 * kMicro, kSecond = 1000 * kMilli;
constexpr std::int64_t kShortest = 20 * kMicro;   // [26]
constexpr std::int64_t kLongest = 10 * kMilli;    // [26]
constexpr std::int64_t kOweMost = 400 * kMicro;   // two looks lie within the millisecond of I1
constexpr int kPatience = 50;                     // looks without news before backing off
constexpr std::int64_t kSlice = 10 * kMilli;      // [27]

// What sysmon saw of a P when it last looked.
struct sighting {
  std::uint32_t tick;
  std::int64_t since;     // when it first saw this tick
  const runnable* owed;   // the G in runnext, if its wake-up was owed
};

struct office {
  atomic<std::uint32_t> bell{0};     // futex word; rung to wake it
  atomic<bool> asleep{false};        // written under the scheduler lock
  atomic<bool> closing{false};
  os::thread thread;
  sighting seen[kMaxProcs];
  std::int64_t trimmed_at, counted_at;
};
constinit office desk{};

void ring() noexcept {
  desk.bell.fetch_add(1, std::memory_order_release);
  futex_wake(&desk.bell, 1);
}

// The goroutine in runnext was readied a look ago, and nobody has run it: pay.
bool pay_owed(P& p, sighting& last) noexcept {
  const runnable* const next = p.owed.load(relaxed) ? p.runnext.load(relaxed) : nullptr;
  const bool due = next != nullptr && next == last.owed;
  last.owed = due ? nullptr : next;
  if (due) submit();
  return due;
}

// The same slice for 10 ms: ask for the M's attention. It yields when it next leaves the
// runtime, or at a checkpoint.
void ask_to_yield(P& p, sighting& last, std::int64_t now) noexcept {
  const std::uint32_t tick = p.schedtick.load(relaxed);
  if (tick != last.tick || p.status.load(relaxed) != p_status::running) {
    last.tick = tick;
    last.since = now;
    return;
  }
  if (now - last.since < kSlice) return;
  last.since = now;
  if (!has_work(p) && sched.global.size_hint() == 0) return;  // nobody to yield to
  if (M* const m = p.m.load(seq_cst)) m->hot.attention.store(1, seq_cst);
}

// One look at everything. True: it did something.
bool look(std::int64_t now) noexcept {
  bool news = false;
  const std::uint32_t n = sched.procs.load(seq_cst);
  for (std::uint32_t i = 0; i < n; ++i) {
    P& p = *sched.p_at(i);
    news |= pay_owed(p, desk.seen[i]);
    ask_to_yield(p, desk.seen[i], now);
  }
  return news;
}

std::size_t trim_stacks(std::int64_t now) noexcept {
  if (arch::kThreadSanitizer) return 0;  // the sanitizer's records lie in the pages
  if (now - desk.trimmed_at < kSecond) return 1;
  desk.trimmed_at = now;
  return depot::trim();
}

// [3]: at most once a second, unless the program or the environment said how many.
void follow_cpu_count(std::int64_t now) noexcept {
  if (sched.settings.procs != 0 || now - desk.counted_at < kSecond) return;
  desk.counted_at = now;
  const auto n = static_cast<std::uint32_t>(os::cpu_count());
  if (n == sched.procs.load(seq_cst) || n > kMaxProcs) return;
  world::stop();
  if (sched.settings.procs == 0) world::resize(n);
  world::start();
}

// Every P is idle: sleep until one is taken; once more after a second if stacks are still warm.
void sleep_while_idle(std::int64_t now) noexcept {
  const bool warm = trim_stacks(now) != 0;
  const std::uint32_t rung = desk.bell.load(std::memory_order_acquire);
  sched.lock.acquire();
  const bool all_idle = sched.idle_p_count.load(relaxed) == sched.procs.load(relaxed);
  desk.asleep.store(all_idle, relaxed);
  sched.lock.release();
  if (!all_idle || desk.closing.load(seq_cst)) return;
  if (warm) {
    futex_wait_for(&desk.bell, rung, kSecond);
  } else {
    futex_wait(&desk.bell, rung);
  }
  desk.asleep.store(false, relaxed);
}

void sysmon_main(void*) noexcept {
  std::int64_t delay = kShortest;
  int quiet = 0;
  while (!desk.closing.load(seq_cst)) {
    const std::int64_t now = os::now_ns();
    sched.coarse_now.store(now, relaxed);
    if (sched.idle_p_count.load(seq_cst) == sched.procs.load(seq_cst) &&
        !sched.stopping.load(seq_cst)) {
      sleep_while_idle(now);
      delay = kShortest;
      quiet = 0;
      continue;
    }
    if (look(now)) {
      delay = kShortest;
      quiet = 0;
    } else if (++quiet > kPatience) {
      // While a P is idle, somebody may be owed its wake-up.
      const std::int64_t most = sched.idle_p_count.load(relaxed) != 0 ? kOweMost : kLongest;
      delay = delay * 2 < most ? delay * 2 : most;
    }
    trim_stacks(now);
    follow_cpu_count(now);
    futex_wait_for(&desk.bell, desk.bell.load(std::memory_order_acquire), delay);
  }
}

}  // namespace

int start() noexcept {
  desk.closing.store(false, relaxed);
  desk.trimmed_at = desk.counted_at = os::now_ns();
  for (sighting& s : desk.seen) s = {};
  os::thread_spec spec;
  spec.main = &sysmon_main;
  spec.name = "vole-sysmon";
  spec.block_signals = true;
  return os::create_thread(&desk.thread, spec);
}

void stop() noexcept {
  desk.closing.store(true, seq_cst);
  ring();
  os::join_thread(desk.thread);
}

void wake_locked() noexcept {
  if (!desk.asleep.load(relaxed)) return;
  desk.asleep.store(false, relaxed);
  ring();
}

}  // namespace vole::rt::sysmon
