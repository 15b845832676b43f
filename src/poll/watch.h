// Files that are not vole's own: one record for each number, and who waits for it.
//
// A descriptor of vole's own (descriptor.h) is registered once, and cannot be closed under those who
// wait. Here the program may close and reuse its numbers as it likes, and tells nobody. So each wait
// asks the kernel anew, with a registration that fires once:
//
//     again_once  the number still means the file that it meant at the last wait: armed again
//     ENOENT      it means another file, or none was ever registered: watch_once; who waits for the
//                 former one is told to look again
//
// A registration that is left behind, because its file is open elsewhere, fires at most once, with
// the tag of another arming: it is dropped.
//
// One who waits, for one file or for many, is a party, which one word ends:
//
//     the party                            the poller, a clock, a context, a closer
//     its watches are linked and armed     state -> over; was it asleep? then wakes it, nobody else
//     coming -> asleep (the commit), or
//       over already: does not sleep
//     woken: unlinks its watches           touches a watch under its record's lock only
//
// Who    watch, unwatch, fall_asleep: the party. end_party: anybody, once it has said why.
//        begin_closing, end_closing: who closes numbers. The rest: the poller.
// Where  anywhere, with no lock of the poller's held. watch is called inside the runtime.
// Law    a watch is in its record's list from watch() to unwatch(). Who finds it there under the
//        record's lock may use its party.
// Law    a record armed for some events reports the first of them after it was armed, or something
//        armed it again, or its number means another file.
// Law    whoever begins to watch a number that is being closed is not armed, and is told to look
//        again when the closing is over.
// Note   records are for ever: a number that was waited for once keeps 128 bytes.
// Proof  tests/api/foreign_test.cc; tests/stress/foreign_stress_test.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"
#include "gmp/waiter.h"
#include "poll/poll.h"

namespace vole::rt::poll {

struct record;

struct party {
  static constexpr std::uint32_t kComing = 0, kAsleep = 1, kOver = 2;
  atomic<std::uint32_t> state{kComing};
  waiter* who = nullptr;  // whom to wake
};

// One file that a party waits for; in the party's frame. Under the record's lock while it is linked.
struct watched {
  watched* next = nullptr;
  watched* prev = nullptr;
  record* at = nullptr;  // null: not linked
  party* of = nullptr;
  int fd = -1;              // negative: none
  std::uint32_t wants = 0;  // of poll(2)'s bits
  std::uint32_t came = 0;   // of poll(2)'s bits; POLLERR and POLLHUP, too
  bool closed = false;      // its number was closed meanwhile
  bool fresh = false;       // the first for its number: network_in_use() is to be called
  bool early = false;       // not armed: its number was being closed
};

// Links w, which has `of`, `fd` and `wants`, and arms its record. 0, or errno, or kNotHere (no memory, a number
// beyond reason): then it is not linked. EPERM: a kind of file that never reports anything.
inline constexpr int kNotHere = -1;
// `woken`: parties that are to be woken.
int watch(watched& w, completions& woken) noexcept;
void unwatch(watched& w) noexcept;  // no effect on one that is not linked

// From the moment this returns true the party may be woken. False: it is over already.
inline bool fall_asleep(party& p) noexcept {
  std::uint32_t coming = party::kComing;
  return p.state.compare_exchange_strong(coming, party::kAsleep, seq_cst);
}
// Ends the party. Returns the waiter to wake; null: it is awake, or another thread wakes it.
inline waiter* end_party(party& p) noexcept {
  return p.state.exchange(party::kOver, seq_cst) == party::kAsleep ? p.who : nullptr;
}
inline bool is_over(const party& p) noexcept { return p.state.load(seq_cst) == party::kOver; }

// Numbers from first to last are about to be closed; they are, or are not after all. `woken`: the
// parties that are to be woken.
bool is_watched(unsigned first, unsigned last) noexcept;  // false: there is nothing to end
void begin_closing(unsigned first, unsigned last) noexcept;
void end_closing(unsigned first, unsigned last, bool closed, completions& woken) noexcept;

// ── the poller ──
struct kernel_event {
  std::uint32_t events, tag;  // the tag it was armed with, its lower bits
};
void complete_watched(descriptor& d, kernel_event e, completions& done) noexcept;
// poll.cc's half: d, which is of a record, reports the first of these events on the file that is now
// `fd`, with d's tag. 0 or errno. `another`: this is not the file that it was registered for.
int arm(descriptor& d, int fd, std::uint32_t events, bool* another) noexcept;
bool start_and_count() noexcept;  // a record more; false: there is no poller to be had
// The runtime has ended: plain threads asleep here are to try again.
void end_all_parties(completions& woken) noexcept;
void forget_registrations() noexcept;  // a forked child has an event set of its own

}  // namespace vole::rt::poll
