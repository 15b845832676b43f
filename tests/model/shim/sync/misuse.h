// The twin of src/sync/misuse.h: the models' goroutines have no numbers.
#pragma once

#include <string>

#include "base/fatal.h"

namespace vole {
inline namespace v0 {
namespace detail {

[[noreturn]] inline void misused(const char* kind, const char* what, const void*,
                                 const char*) noexcept {
  base::fatal(std::string(kind) + ": " + what);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
