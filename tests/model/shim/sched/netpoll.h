// The twin of src/sched/netpoll.h: the model's poller needs no calling.
#pragma once

namespace vole::rt {

inline void network_in_use() noexcept {}

}  // namespace vole::rt
