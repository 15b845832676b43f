// sysmon's looks: work that waits beside an idle P, and for which nobody was called.
//
// Who    sysmon.
// Law    the decision about one P is a function of two looks at it: invite.h.
#pragma once

#include <cstdint>

#include "gmp/p.h"

namespace vole::rt::wake_policy {

void begin_looks(std::int64_t now) noexcept;  // a runtime starts
void begin_look() noexcept;                   // at all Ps, one after the other
// Work waits at p while another P is idle: behind a goroutine that runs on, or for long. Then a thread
// is woken for it. True: it is the former.
bool look_at(P& p, std::int64_t now) noexcept;
// Does something wait in the global queue beside an idle P, for long? A P retired and left its work to
// the others, or the network came (urgent): are they seeing to it?
void look_at_global(bool urgent, std::int64_t now) noexcept;
// Now and then, busy or idle: no assessment about the network lasts for ever.
void age(std::int64_t now) noexcept;
// sysmon has found something in the poller: nobody looks, as a P with a batch would have.
void nobody_sees_to_network() noexcept;

}  // namespace vole::rt::wake_policy
