// What a command cannot do because of its arguments or of what it was pointed at: a sentence.
// main.cc prints it, and the status is 2.
#pragma once

#include <stdexcept>

namespace vole_command {

inline constexpr int kRefused = 2;

struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace vole_command
