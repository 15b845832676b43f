// When sysmon calls a thief for what lies beside an idle P (docs/design/0010-second-core.md).
//
// Who makes a goroutine runnable mostly calls a thief himself. Left to sysmon is what he owes, what the
// poller brought, and the work of a P for which wake-ups have been in vain (P::wasted_wakes). It looks at each P
// that runs while another is idle; what it does not decide at one look it remembers until the next.
//
// Who    sysmon.
// Law    newborns of a P for which nobody is called: at the first look that sees them, unless a thief
//        was called within the last kThiefWaits. What lies behind a goroutine that makes no switch:
//        after kStuck. Everything else has had a turn meanwhile, and waits for thief_waits(): for
//        kThiefWaits, up to kWaitMost times as long after wake-ups in vain.
// Proof  sched/policy/invite_test.cc
#pragma once

#include <cstdint>

#include "queue/local_queue.h"
#include "sched/policy/pace.h"
#include "sched/state.h"

namespace vole::rt::sysmon {

inline constexpr std::int64_t kThiefWaits = 400 * kMicro;  // for work that is being seen to
inline constexpr std::int64_t kStuck = 150 * kMicro;  // no switch for so long, and work behind it
inline constexpr unsigned kWaitMost = 32;

// What sysmon sees of a P that runs.
struct p_view {
  const runnable* ready_next;
  std::uint64_t switches, rests, spawned;
  unsigned wasted_wakes;
  bool stealable; // there is something to steal
  bool polled;  // it has what the poller brought, and nobody was called for it
};

// What it remembers of one.
struct p_history {
  const runnable* ready_next;
  std::uint64_t switches;
  std::int64_t still_since;  // when this number of switches was first seen
  std::uint64_t rests;
  std::uint64_t spawned;
  std::int64_t stealable_since;   // since a thief was last called: when there was first something there
  bool newborns;             // likewise: it has made some
  std::int64_t invited_at;  // when that was
};

// How long a thief is kept waiting: the longer, the more wake-ups for the P's work have been in vain.
// But newborns are not what those were judged by.
inline std::int64_t thief_waits(unsigned wasted_wakes, bool newborns) noexcept {
  if (newborns || wasted_wakes <= kManyWasted) return kThiefWaits;
  const unsigned more = wasted_wakes - kManyWasted;
  return kThiefWaits * (more < 4 ? 2u << more : kWaitMost);
}

// Since when there has been something to steal. It is not forgotten when there is nothing: a ring that
// is empty now and then is in use, too. But who has seen to all that the poller brought keeps up.
inline std::int64_t stealable_since(const p_view& p, const p_history& last, std::int64_t now) noexcept {
  const bool keeps_up = p.polled && p.rests != last.rests;
  return last.stealable_since != 0 && !keeps_up ? last.stealable_since : p.stealable ? now : 0;
}

inline bool has_newborns(const p_view& p, const p_history& last) noexcept {
  return last.newborns || p.spawned != last.spawned;
}

// Newborns for which nobody was called when they were made: no look but this one keeps them waiting.
inline bool fork_waits(const p_view& p, const p_history& last, std::int64_t now) noexcept {
  return has_newborns(p, last) && p.wasted_wakes >= kManyWasted && now - last.invited_at >= kThiefWaits;
}

// What follows from one look.
struct opinion {
  p_history seen;       // to be remembered, if nobody is called
  std::int64_t waits;  // how long a thief does
  bool stands;         // the P has made no switch for long,
  bool defers;          // and one that only its owner may take lies there since then
  bool overdue;        // there is something to steal, and it has waited long enough
};

// polled_patience: with what the poller brought.
inline opinion decide(const p_view& p, const p_history& last, std::int64_t polled_patience,
                     std::int64_t now) noexcept {
  const bool newborns = has_newborns(p, last);
  const std::int64_t still_since = p.switches == last.switches ? last.still_since : now;
  const std::int64_t since = stealable_since(p, last, now);
  const std::int64_t waits = thief_waits(p.wasted_wakes, newborns);
  const bool stands = now - still_since >= kStuck;
  const bool long_since = now - since >= (p.polled ? polled_patience : waits);
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

// No P is idle, or this one does not run: what a thief would be called for is remembered.
inline p_history passed_over(const p_history& last, std::uint64_t spawned) noexcept {
  const bool newborns = last.newborns || spawned != last.spawned;
  return {nullptr, 0, 0, last.rests, spawned, last.stealable_since, newborns, last.invited_at};
}

}  // namespace vole::rt::sysmon
