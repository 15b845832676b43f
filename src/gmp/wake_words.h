// What the wake policy remembers of each P and of each M (sched/wake_policy/policy.h).
//
// Law    only the files of sched/wake_policy read and write these words (tools/rules.txt). They are
//        hints: an update that is lost makes a decision worse, and nothing wrong.
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::rt {

using namespace base;

struct P;

namespace wake_policy {

// Is a wake-up on probation, and what is it judged by?
enum class probation : std::uint8_t {
  none,
  work,    // that a goroutine made
  polled,  // that the poller brought
};

// Why a thread is woken to search.
struct reason {
  probation kind = probation::none;
  P* for_whom = nullptr;  // the P by whose work the wake-up is judged
};

struct p_words {
  atomic<std::uint8_t> wasted{0};   // wake-ups for its work that brought nothing, in a row
  atomic<bool> invites{false};      // thieves may come all the same; sysmon sets it
  atomic<bool> has_batch{false};    // since it was last idle: the poller brought something, and
                                    // nobody was called for it
};

struct m_words {
  // ── locks met held ── the M; others read contended_at
  std::uint32_t contended = 0;           // so many since contended_since
  std::int64_t contended_since = 0;
  atomic<std::int64_t> contended_at{0};  // ns; the last time

  // ── the last theft ── the M
  std::int64_t stole_at = 0;          // ns; 0: it has been assessed
  P* stole_from = nullptr;
  const P* stole_p = nullptr;         // with which P, and its count of switches then
  std::uint64_t stole_switches = 0;

  // ── the last wake-up ── the waker, before the wake
  reason why;
  std::int64_t woken_at = 0;          // ns; probation::polled only
  // ── the M ──
  std::int64_t called_at = 0;         // ns; when it came out of its sleep; 0: it has been assessed
  std::int64_t cpu = 0;               // its CPU time then,
  std::int64_t sleeps = 0;            // and how often it had slept
};

}  // namespace wake_policy
}  // namespace vole::rt
