// The twin of src/sched/life/spawn.h: there is no runtime to start.
#pragma once

namespace vole::rt {

inline void guest_enter_started() noexcept {}
inline M* enter_either_started() noexcept { return arch::this_m(); }

}  // namespace vole::rt
