#include "sched/watch/stall.h"

#include "os/os.h"
#include "sched/life/call.h"
#include "sched/report/reporter.h"
#include "sched/state.h"
#include "sched/wait/p_timers.h"

namespace vole::rt::stall {
namespace {

constexpr std::int64_t kMilli = 1000 * 1000, kSecond = 1000 * kMilli;
constexpr std::size_t kWatched = 1024;

// The last look at an M, as long as its goroutine has not yielded.
struct observation {
  const M* m;
  std::uint64_t g;         // its goroutine's id
  const P* p;              // the last one that it was seen with; null: with none
  std::uint64_t switches;  // p's, then
  std::uint32_t returns;   // M::returns
  bool asked;
  std::int64_t since, told_at;
};

struct stall_state {
  std::int64_t next;
  observation seen[kWatched];
};
constinit stall_state own{};

std::int64_t limit() noexcept { return std::int64_t{sched.settings.stall_ms} * kMilli; }

// As goroutine_on: another thread may be writing it. 0: none.
#if defined(__clang__)
__attribute__((noinline, no_sanitize("thread")))
#else
__attribute__((noinline, no_sanitize_thread))
#endif
std::uint64_t
id_on(const M& m) noexcept {
  const G* const g = goroutine_on(m);
  return g != nullptr ? g->id : 0;
}

bool runs_on(const observation& s, const M& m, const P* p) noexcept {
  return s.returns == m.returns.load(relaxed) &&
         (p == nullptr || (p == s.p && p->switches.get() == s.switches));
}

// True: it is watched.
bool look_at(M& m, std::int64_t now) noexcept {
  if (!m.alive.load(std::memory_order_acquire)) return false;
  observation& s = own.seen[m.id % kWatched];
  const bool awake =
      !m.idle.load(relaxed) && !m.polling.load(relaxed) && m.captured.load(relaxed) == 0;
  const std::uint64_t id = awake && !is_in_call(m) ? id_on(m) : 0;
  if (id == 0) {
    if (s.m == &m) s = {};
    return false;
  }
  const P* const p = m.hot.p.load(relaxed);
  if (s.m != &m || s.g != id || !runs_on(s, m, p)) {
    s = {&m, id, p, p != nullptr ? p->switches.get() : 0, m.returns.load(relaxed), false, now, 0};
    return true;
  }
  if (!s.asked && now - s.since >= limit() / 2) {
    s.asked = true;
    if (p != nullptr) m.hot.attention.store(1, seq_cst);
  }
  if (now - s.since < limit() || now - s.told_at < kSecond) return true;
  if (reporter::report_stall(m, id, now - s.since)) s.told_at = now;
  return true;
}

}  // namespace

void begin() noexcept {
  own.next = sched.settings.stall_ms != 0 ? 0 : kNoTimer;
  for (observation& s : own.seen) s = {};
}

void look(std::int64_t now) noexcept {
  if (sched.settings.stall_ms == 0 || (own.next != kNoTimer && now < own.next)) return;
  bool any = false;
  {
    holding hold(sched.lock);  // no M is made meanwhile
    m_slab.for_each([&](M* m) { any |= look_at(*m, now); });
  }
  own.next = any ? now + (limit() >= 8 * kMilli ? limit() / 4 : 2 * kMilli) : kNoTimer;
}

std::int64_t due() noexcept { return own.next; }

}  // namespace vole::rt::stall
