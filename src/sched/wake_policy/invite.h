// When sysmon calls a thief for work that waits beside an idle P (docs/design/0010-second-core.md).
//
// A goroutine that makes another runnable mostly calls a thief itself. Three kinds of work are left to
// sysmon: deferred wake-ups, goroutines that the poller brought, and the work of a P for which wake-ups
// have been wasted (policy.h). sysmon looks at each P that runs while another is idle, and
// remembers from one look to the next what it saw.
//
// Who    sysmon.
// Law    a thief is called for newborns of a P for which nobody is called: at the first look that sees
//        them, unless one was called within the last kThiefWaits. For work behind a goroutine that
//        makes no switch: after kStuck. All other work has had a turn meanwhile, and waits for
//        thief_waits(): kThiefWaits, and up to kWaitMost times as long after wasted wake-ups.
// Proof  sched/wake_policy/invite_test.cc
#pragma once

#include <cstdint>

#include "queue/local_queue.h"
#include "sched/policy/pace.h"
#include "sched/wake_policy/policy.h"

namespace vole::rt::wake_policy {

using sysmon::kMicro, sysmon::kMilli;

inline constexpr std::int64_t kThiefWaits = 400 * kMicro;  // for work that its own P gets to in turn
inline constexpr std::int64_t kStuck = 150 * kMicro;  // no switch for so long, and work behind it
inline constexpr unsigned kWaitMost = 32;

// A P that runs, as sysmon sees it.
struct p_view {
  const runnable* ready_next;
  std::uint64_t switches, rests, spawned;
  unsigned wasted;   // wake-ups, in a row
  bool stealable;    // there is something to steal
  bool has_batch;    // what the poller brought, and nobody was called for it
};

// What sysmon remembers of a P between two looks.
struct p_history {
  const runnable* ready_next;
  std::uint64_t switches;
  std::int64_t still_since;  // when this number of switches was first seen
  std::uint64_t rests;
  std::uint64_t spawned;
  std::int64_t stealable_since;  // when, since a thief was last called, there was first something
  bool newborns;                 // it has made some since a thief was last called
  std::int64_t invited_at;  // when a thief was last called
};

// How long a thief is kept waiting: the more wake-ups for the P's work were wasted, the longer. That
// does not hold for newborns, by which those wake-ups were not judged.
inline std::int64_t thief_waits(unsigned wasted, bool newborns) noexcept {
  if (newborns || wasted <= kManyWasted) return kThiefWaits;
  const unsigned more = wasted - kManyWasted;
  return kThiefWaits * (more < 4 ? 2u << more : kWaitMost);
}

// Since when there has been something to steal. A ring that is empty now and then still counts as in
// use. But a P that has run everything the poller brought keeps up by itself.
inline std::int64_t stealable_since(const p_view& p, const p_history& last, std::int64_t now) noexcept {
  const bool keeps_up = p.has_batch && p.rests != last.rests;
  return last.stealable_since != 0 && !keeps_up ? last.stealable_since : p.stealable ? now : 0;
}

inline bool has_newborns(const p_view& p, const p_history& last) noexcept {
  return last.newborns || p.spawned != last.spawned;
}

// Newborns for which nobody was called when they were made: they wait until the first look, no longer.
inline bool fork_waits(const p_view& p, const p_history& last, std::int64_t now) noexcept {
  return has_newborns(p, last) && p.wasted >= kManyWasted && now - last.invited_at >= kThiefWaits;
}

// The conclusion from one look.
struct opinion {
  p_history seen;       // to be remembered, if nobody is called
  std::int64_t waits;   // how long a thief does
  bool stands;          // the P has made no switch for long,
  bool defers;          // and one that only its owner may take lies there since then
  bool overdue;        // there is something to steal, and it has waited long enough
};

// polled_patience: with what the poller brought.
inline opinion decide(const p_view& p, const p_history& last, std::int64_t polled_patience,
                     std::int64_t now) noexcept {
  const bool newborns = has_newborns(p, last);
  const std::int64_t still_since = p.switches == last.switches ? last.still_since : now;
  const std::int64_t since = stealable_since(p, last, now);
  const std::int64_t waits = thief_waits(p.wasted, newborns);
  const bool stands = now - still_since >= kStuck;
  const bool long_since = now - since >= (p.has_batch ? polled_patience : waits);
  return {{p.ready_next, p.switches, still_since, p.rests, p.spawned, since, newborns && p.stealable,
           last.invited_at},
          waits,
          stands,
          stands && p.ready_next != nullptr && p.ready_next == last.ready_next,
          p.stealable && (long_since || fork_waits(p, last, now))};
}

// A thief was called: all begins anew.
inline p_history after_call(const p_view& p, std::int64_t now) noexcept {
  return {nullptr, 0, 0, 0, p.spawned, 0, false, now};
}

// No P is idle, or this one does not run: the reasons to call a thief are remembered.
inline p_history passed_over(const p_history& last, std::uint64_t spawned) noexcept {
  const bool newborns = last.newborns || spawned != last.spawned;
  return {nullptr, 0, 0, last.rests, spawned, last.stealable_since, newborns, last.invited_at};
}

}  // namespace vole::rt::wake_policy
