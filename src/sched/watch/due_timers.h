// Timers that are due and that nobody has fired, since their P is busy [26].
//
// Who    sysmon.
#pragma once

#include <cstdint>

namespace vole::rt::sysmon {

// Has those that are due fired. Returns when the next one of a busy P is.
std::int64_t serve_due_timers(std::int64_t now) noexcept;

}  // namespace vole::rt::sysmon
