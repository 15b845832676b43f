#include "sched/policy/slices.h"

#include "os/os.h"
#include "sched/work/env.h"
#include "sched/work/home.h"
#include "sched/hold/thread_maker.h"
#include "sched/hold/retake.h"
#include "sched/state.h"
#include "sched/hold/strict.h"

namespace vole::rt::slices {
namespace {

constexpr std::int64_t kMicro = 1000, kMilli = 1000 * kMicro;
constexpr std::int64_t kSlice = 10 * kMilli;
constexpr std::int64_t kUrgentSlice = 1 * kMilli;
constexpr std::int64_t kBlockedFor = 200 * kMicro;
constexpr std::int64_t kInside = 1 * kMilli;     // see waits_for_us
constexpr std::int64_t kCrowded = 4 * kMilli;    // the urgent slice in real time, see has_hogged
constexpr std::int64_t kUnneeded = 10 * kMilli;  // asleep with a P that nobody needs [27]

// The last look at a P, as long as its tick stands still.
struct observation {
  M* m;
  std::uint32_t tick;
  bool measured;           // cpu_* are known
  bool asked;              // to yield
  std::uint64_t call;      // M::call
  std::int64_t cpu_begin;  // CPU time of its thread when first measured
  std::int64_t cpu_last;
  std::int64_t begin;        // the time then
  std::int64_t still_since;  // when the CPU clock was last seen to move, or a call to begin
};
constinit observation seen[kMaxProcs]{};

bool in_call(std::uint64_t call, std::uint32_t tick) noexcept {
  return static_cast<std::uint32_t>(call) == tick + 1;
}

// May there be one thread more? Past the limit a hog keeps its P until it comes in.
bool may_take() noexcept {
  if (!sched.settings.evict) return false;
  holding hold(sched.lock);
  return sched.idle_ms.top() != nullptr || thread_maker::may_grow_locked();
}

finding take(P& p, observation& last, bool runs_on) noexcept {
  if (!may_take()) {
    if (sched.settings.evict) thread_maker::tell_limit();
    return finding::nothing;
  }
  last.m = nullptr;
  return retake::evict(&p, runs_on) ? finding::taken : finding::suspicion;
}

// Nobody needs the P, but its thread sleeps. It is taken: an idle P costs nothing, a P in use keeps
// sysmon awake.
finding take_unneeded(P& p, observation& last) noexcept {
  if (!may_take()) return finding::nothing;
  last.m = nullptr;
  return retake::evict(&p, false) ? finding::taken : finding::nothing;
}

// Is its slice over? A slice counts CPU time, unless evicted threads compete for the processors: they
// could keep this thread from running, and with its P everybody who waits for that.
bool has_hogged(const observation& s, demand d, std::int64_t now) noexcept {
  const bool urgent = d == demand::urgent;
  if (s.cpu_last - s.cpu_begin >= (urgent ? kUrgentSlice : kSlice)) return true;
  return sched.evicted.load(relaxed) != 0 && now - s.begin >= (urgent ? kCrowded : kSlice);
}

// Strict mode: its own timer will capture it, unless that has had time enough and has not.
bool left_to_its_signal(const observation& s, std::int64_t now) noexcept {
  const std::int64_t cpu = s.cpu_last - s.cpu_begin;
  return strict::sees_to(*s.m, sched.evicted.load(relaxed) != 0 ? now - s.begin : cpu);
}

// Its thread runs, or would if there were a processor.
finding look_at_running(P& p, observation& s, demand d, std::int64_t now) noexcept {
  if (!has_hogged(s, d, now)) return d == demand::urgent ? finding::suspicion : finding::nothing;
  if (s.asked && left_to_its_signal(s, now)) return finding::nothing;
  if (s.asked) return take(p, s, true);
  s.asked = true;
  s.m->hot.attention.store(1, seq_cst);
  return finding::suspicion;
}

bool sleeps(const M& m) noexcept {
  return os::state_of(m.tid.load(relaxed)) == os::thread_state::sleeping;
}

// Strict mode: an M that sleeps inside the runtime waits for the holder of one of our locks, or user
// code in the move of a channel's value waits. The former is soon over.
bool waits_for_us(const M& m) noexcept {
  return sched.captured_ms.load(relaxed) != 0 && m.hot.in_rt.load(std::memory_order_acquire) != 0;
}

// Its CPU clock stands still.
finding look_at_still(P& p, observation& s, demand d, std::int64_t now) noexcept {
  if (now - s.still_since < kBlockedFor) return finding::suspicion;
  if (sleeps(*s.m)) {
    if (waits_for_us(*s.m) && now - s.still_since < kInside) return finding::suspicion;
    strict::release_all_captured();  // perhaps it waits for one of them
    return take(p, s, false);
  }
  s.still_since = now;  // not its fault
  const finding f = look_at_running(p, s, d, now);
  return f == finding::nothing ? finding::suspicion : f;
}

// True: its CPU clock stood still since it was last read.
bool measure(observation& s, std::int64_t cpu, std::int64_t now) noexcept {
  if (s.measured && cpu == s.cpu_last) return true;
  if (!s.measured) {
    s.cpu_begin = cpu;
    s.begin = now;
  }
  s.measured = true;
  s.cpu_last = cpu;
  s.still_since = now;
  return false;
}

finding look_at_needed(P& p, observation& s, demand d, std::int64_t now) noexcept {
  const bool first = !s.measured;
  if (measure(s, os::cpu_ns_of(s.m->tid.load(relaxed)), now)) return look_at_still(p, s, d, now);
  return first ? finding::suspicion : look_at_running(p, s, d, now);
}

finding look_at_unneeded(P& p, observation& s, std::int64_t now) noexcept {
  if (now - s.still_since < kUnneeded) return finding::nothing;
  if (!measure(s, os::cpu_ns_of(s.m->tid.load(relaxed)), now)) return finding::nothing;
  if (sleeps(*s.m)) return take_unneeded(p, s);
  s.still_since = now;
  return finding::nothing;
}

finding look_at_call(P& p, observation& s, bool same, bool needed, std::int64_t now) noexcept {
  if (!same) {
    s.still_since = now;
    s.measured = false;
    return needed ? finding::in_call : finding::nothing;
  }
  if (needed) return take(p, s, false);
  return now - s.still_since < kUnneeded ? finding::nothing : take_unneeded(p, s);
}

}  // namespace

finding look(P& p, demand others, std::int64_t now) noexcept {
  observation& s = seen[p.id];
  M* const m = p.m.load(seq_cst);
  const std::uint32_t tick = p.schedtick.load(relaxed);
  if (m == nullptr || p.status.load(relaxed) != p_status::running) {
    s.m = nullptr;
    return finding::nothing;
  }
  const std::uint64_t call = m->call.load(relaxed);
  const bool fresh = m != s.m || tick != s.tick;
  const bool same_call = !fresh && call == s.call;
  if (fresh) s = {m, tick, false, false, call, 0, 0, 0, now};
  s.call = call;
  const bool mail = home::has_mail(*m);  // nobody else can see to it
  const bool work = mail || has_work(p);
  const demand d = others != demand::none ? others : work ? demand::work : demand::none;
  const bool needed = mail || (d != demand::none && sched.idle_p_count.load(seq_cst) == 0);
  if (in_call(call, tick)) return look_at_call(p, s, same_call, needed, now);
  if (fresh) return finding::nothing;
  return needed ? look_at_needed(p, s, d, now) : look_at_unneeded(p, s, now);
}

void evict_all() noexcept {
  const std::uint32_t n = sched.procs.load(seq_cst);
  for (std::uint32_t i = 0; i < n; ++i) {
    P& p = *sched.p_at(i);
    if (p.status.load(relaxed) == p_status::running && may_take()) retake::evict(&p, true);
  }
}

void begin() noexcept {
  for (observation& s : seen) s = {};
}

}  // namespace vole::rt::slices
