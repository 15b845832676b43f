// Asking the network poller, and running what it returned.
//
// Who    find_polled: g0 with a P. poll_for_others: sysmon. The rest: the thread that has polled.
// Where  in the runtime, no lock held.
// Law    every completed wait that the poller returned is made runnable, once.
// Note   [12] asks whether there are waiters; we ask whether any file is open: that count
//        does not change with every read. An open file that nobody waits for costs an idle
//        M a call.
#pragma once

#include "gmp/g.h"
#include "gmp/m.h"
#include "poll/poll.h"
#include "sched/hold/strict.h"

namespace vole::rt {

// Goroutines to run, made runnable already; plain threads among the waiters have been woken.
struct woken_list {
  runnable* first = nullptr;
  runnable* last = nullptr;
  std::size_t count = 0;
};
woken_list wake_complete(poll::completions& done) noexcept;

// Puts them into m's ring; another worker is woken if there are several [32], and if that is worth it
// (sched/wake_policy/policy.h).
void inject_owner(M& m, const woken_list& list) noexcept;

runnable* find_polled(M& m) noexcept;           // [11], [12]: looks without waiting
// [28]: sysmon, when nobody has for so long. True: it has made goroutines runnable.
bool poll_for_others(std::int64_t now, std::int64_t patience) noexcept;

// A descriptor has been opened. On its way here somebody may have gone to sleep without a look at
// the poller. Any thread inside.
void network_in_use() noexcept;

}  // namespace vole::rt
