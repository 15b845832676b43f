// The twin of src/sched/life/spawn.h: there is no runtime to start.
#pragma once

namespace vole::rt {

inline void guest_enter_started() noexcept {}

}  // namespace vole::rt
