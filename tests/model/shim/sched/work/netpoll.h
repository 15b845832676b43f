// The twin of src/sched/work/netpoll.h: the model's poller needs no calling.
#pragma once

namespace vole::rt {

inline void network_in_use() noexcept {}

}  // namespace vole::rt
