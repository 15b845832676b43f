// The end of a runtime, step by step; the order is the law (boot.h).
#pragma once

namespace vole::rt {

// The world is stopped and no guest is inside. Afterwards the runtime is gone; on_stopped is
// called once nothing of it can be reached any more, just before its memory goes.
void end_everything(void (*on_stopped)() noexcept) noexcept;

}  // namespace vole::rt
