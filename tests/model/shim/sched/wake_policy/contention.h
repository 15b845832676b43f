// The twin of src/sched/wake_policy/contention.h: the model has as many cores as threads.
#pragma once

#include "sched/park.h"

namespace vole::rt {

inline void note_contention(M&) noexcept {}

}  // namespace vole::rt
