// A file that can be waited for: one word for each direction.
//
// Who    start, commit, undo: the one party that waits in this direction (net/pollable.h
//        lets one at a time through). unblock: the poller, a deadline, close.
// Law    a word is nil (nothing known), ready (an event came that nobody has used yet),
//        wait (somebody is about to park), or that party's waiter. An event that comes
//        before, during or after the parking is seen:
//
//     waits                              poller
//     ready -> nil: go on, try again     any -> ready, and takes the waiter, if one is there
//     nil -> wait
//     closed? too late? wait -> nil      closer, clock (after saying so)
//     park; wait -> waiter               any but ready -> nil, and takes the waiter
//     (the commit fails: go on)
//     ready -> nil: try again
//
// Law    type-stable: a descriptor's memory stays one for ever. A late event for the file that had it
//        before is dropped by its tag, or wakes a waiter that finds nothing and waits again.
// Proof  tests/model/poll_model.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "base/fatal.h"
#include "gmp/waiter.h"

namespace vole::rt::poll {

using namespace base;

enum class way : std::uint8_t { in, out };

struct alignas(64) descriptor {
  static constexpr std::uintptr_t kNil = 0, kReady = 1, kWait = 2;

  atomic<std::uintptr_t> word[2];  // by way
  atomic<std::uint32_t> tag;       // another one in each life
  atomic<bool> odd;                // it has had more than data: its end, an error, urgent bytes
  bool foreign;                    // a record's: watch.h
  int fd;                          // -1: not open
  descriptor* next;                // free list
};

// Of a tag, what an event carries beside a pointer to 64 aligned bytes: 64 - (48 - 6) bits.
inline constexpr unsigned kTagBits = 22;
inline constexpr std::uint32_t kTagMask = (1u << kTagBits) - 1;

inline atomic<std::uintptr_t>& word_of(descriptor& d, way w) noexcept {
  return d.word[static_cast<unsigned>(w)];
}

// False: an event has come already; try the operation again instead of waiting.
// True: look whether it is closed or too late, then commit or undo.
inline bool start_wait(descriptor& d, way w) noexcept {
  std::uintptr_t seen = word_of(d, w).load(seq_cst);
  if (seen == descriptor::kReady &&
      word_of(d, w).compare_exchange_strong(seen, descriptor::kNil, seq_cst))
    return false;
  seen = descriptor::kNil;
  if (word_of(d, w).compare_exchange_strong(seen, descriptor::kWait, seq_cst)) return true;
  if (seen != descriptor::kReady) broken("poll: a file has a second waiter in the same direction");
  word_of(d, w).exchange(descriptor::kNil, seq_cst);  // ready came in between
  return false;
}

// From the moment this returns true the waiter may be woken, and be gone. False: unblocked.
inline bool commit_wait(descriptor& d, way w, waiter* party) noexcept {
  std::uintptr_t seen = descriptor::kWait;
  return word_of(d, w).compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(party),
                                               seq_cst);
}

// The wait is off, before its commit. An event that came keeps its ready.
inline void undo_wait(descriptor& d, way w) noexcept {
  std::uintptr_t seen = descriptor::kWait;
  word_of(d, w).compare_exchange_strong(seen, descriptor::kNil, seq_cst);
}

// ready: an event came. Otherwise the waiting is to end for another reason, said before.
// Returns whom to wake; nullptr: nobody sleeps there.
inline waiter* unblock(descriptor& d, way w, bool ready) noexcept {
  std::uintptr_t seen = word_of(d, w).load(seq_cst);
  for (;;) {
    // An event that finds ready stores it again: the waiter that uses it up must see this event's data.
    if (!ready && seen <= descriptor::kReady) return nullptr;
    const std::uintptr_t then = ready ? descriptor::kReady : descriptor::kNil;
    if (word_of(d, w).compare_exchange_strong(seen, then, seq_cst)) break;
  }
  return seen > descriptor::kWait ? reinterpret_cast<waiter*>(seen) : nullptr;
}

// After the wait, and before the operation is tried: an event that has ended the wait is used up,
// and what comes from here on is another one.
inline void end_wait(descriptor& d, way w) noexcept {
  std::uintptr_t seen = descriptor::kReady;
  word_of(d, w).compare_exchange_strong(seen, descriptor::kNil, seq_cst);
}

// Takes this waiter off, if it is still there: the runtime ends.
inline void unlink_wait(descriptor& d, waiter* party) noexcept {
  for (auto& word : d.word) {
    auto seen = reinterpret_cast<std::uintptr_t>(party);
    word.compare_exchange_strong(seen, descriptor::kNil, seq_cst);
  }
}

}  // namespace vole::rt::poll
