// The wake policy's own words, and its assessments as functions of them and of the time.
//
// Who    the files of this folder, and tests.
// Note   what it remembers of each P and M is in gmp/wake_words.h.
#pragma once

#include "base/atomic.h"
#include "sched/wake_policy/policy.h"

namespace vole::rt::wake_policy {

using namespace base;

inline constexpr std::uint8_t kMostWasted = kManyWasted + 8;
inline constexpr std::uint32_t kMostPolledWasted = 5;
inline constexpr std::uint32_t kTooMuch = 8;             // meetings at locks within kWindow
inline constexpr std::int64_t kWindow = 100 * 1000;      // ns
inline constexpr std::int64_t kWorthwhile = 20 * 1000;   // ns; a wake-up costs the waker 6 us
inline constexpr std::int64_t kShortRun = 250;           // ns; its lines take as long to change cores
inline constexpr std::int64_t kAssessmentLasts = 250 * 1000 * 1000;  // ns; about the network

// Of threads that were woken for what the poller brought.
struct network_words {
  atomic<std::uint32_t> wasted{0};  // wasted wake-ups, in a row
  atomic<std::int64_t> cpu{0};      // how long they ran, of how long they were up
  atomic<std::int64_t> wall{0};
};
extern network_words of_network;

// A wake-up for p's work brought nothing.
void count_wasted(P& p) noexcept;
// m, which is on probation for work, has nothing more to do.
void assess_wake_up(M& m, std::int64_t now) noexcept;
// m looks for something to steal again.
void assess_theft(M& m, std::int64_t now) noexcept;
// A thread that was called for the poller ran for so long, of so long.
void assess_polled(std::int64_t ran, std::int64_t wall) noexcept;
// An assessment about the network does not last for ever: the processors may be free by now, and only
// a new wake-up can tell. aged_at: when that was last seen to.
void age_assessments(std::int64_t& aged_at, std::int64_t now) noexcept;
// True: the M has now met others too often.
bool count_meeting(M& m, std::int64_t now) noexcept;

}  // namespace vole::rt::wake_policy
