#include "sched/slices.h"

#include "os/os.h"
#include "sched/env.h"
#include "sched/retake.h"
#include "sched/state.h"

namespace vole::rt::slices {
namespace {

constexpr std::int64_t kMicro = 1000, kMilli = 1000 * kMicro;
constexpr std::int64_t kSlice = 10 * kMilli;
constexpr std::int64_t kUrgentSlice = 1 * kMilli;
constexpr std::int64_t kBlockedFor = 200 * kMicro;

// What was seen of a P when last looked at, as long as its tick stands still.
struct sighting {
  M* m;
  std::uint32_t tick;
  bool measured;          // cpu_* are known
  bool asked;             // to yield
  std::uint64_t call;     // M::call
  std::int64_t cpu_begin; // CPU time of its thread when first measured
  std::int64_t cpu_last;
  std::int64_t still_since;  // when the CPU clock was last seen to move
};
constinit sighting seen[kMaxProcs];
constinit bool told_limit = false;

bool in_call(std::uint64_t call, std::uint32_t tick) noexcept {
  return static_cast<std::uint32_t>(call) == tick + 1;
}

// May there be one thread more? Past the limit a hog keeps its P until it comes in.
bool may_take() noexcept {
  if (!sched.settings.evict) return false;
  holding hold(sched.lock);
  return sched.idle_ms.top() != nullptr || sched.m_count < sched.settings.max_threads;
}

finding take(P& p, sighting& last) noexcept {
  if (!may_take()) {
    if (!told_limit && sched.settings.evict) {
      told_limit = true;
      sentence s;
      s << "vole: the limit of " << sched.settings.max_threads
                 << " threads is reached: goroutines that block or never yield now hold up others\n";
      s.print();
    }
    return finding::nothing;
  }
  last.m = nullptr;
  return retake::evict(&p) ? finding::taken : finding::suspicion;
}

// Its thread runs.
finding look_at_running(P& p, sighting& s, demand d, std::int64_t cpu) noexcept {
  if (d != demand::urgent && cpu - s.cpu_begin < kSlice) return finding::nothing;
  if (cpu - s.cpu_begin < kUrgentSlice) return finding::suspicion;
  if (s.asked) return take(p, s);
  s.asked = true;
  s.m->hot.attention.store(1, seq_cst);
  return finding::suspicion;
}

// Its CPU clock stands still.
finding look_at_still(P& p, sighting& s, std::int64_t now) noexcept {
  if (now - s.still_since < kBlockedFor) return finding::suspicion;
  if (os::state_of(s.m->tid) == os::thread_state::sleeping) return take(p, s);
  s.still_since = now;  // not its fault
  return finding::suspicion;
}

}  // namespace

finding look(P& p, demand others, std::int64_t now) noexcept {
  sighting& s = seen[p.id];
  M* const m = p.m.load(seq_cst);
  const std::uint32_t tick = p.schedtick.load(relaxed);
  if (m == nullptr || p.status.load(relaxed) != p_status::running) {
    s.m = nullptr;
    return finding::nothing;
  }
  const std::uint64_t call = m->call.load(relaxed);
  if (m != s.m || tick != s.tick) {
    s = {m, tick, false, false, call, 0, 0, now};
    return finding::nothing;
  }
  const bool same_call = call == s.call && in_call(call, tick);
  s.call = call;
  const demand d = others != demand::none ? others : has_work(p) ? demand::work : demand::none;
  if (d == demand::none || sched.idle_p_count.load(seq_cst) != 0) return finding::nothing;
  if (same_call) return take(p, s);
  if (in_call(call, tick)) return finding::in_call;
  const std::int64_t cpu = os::cpu_ns_of(m->tid);
  if (!s.measured) {
    s.measured = true;
    s.cpu_begin = s.cpu_last = cpu;
    s.still_since = now;
    return finding::suspicion;
  }
  if (cpu == s.cpu_last) return look_at_still(p, s, now);
  s.cpu_last = cpu;
  s.still_since = now;
  return look_at_running(p, s, d, cpu);
}

void begin() noexcept {
  for (sighting& s : seen) s = {};
  told_limit = false;
}

}  // namespace vole::rt::slices
