// A trace for whoever asks at the control socket.
//
// Who    control.cc, on its thread.
// Law    the file belongs to the recording from start on, also if that fails.
#pragma once

#include <system_error>

namespace vole::rt::control {

std::error_code start_recording(int file) noexcept;
std::error_code finish_recording() noexcept;

}  // namespace vole::rt::control
