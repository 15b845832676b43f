// A picture in words, as the library's own dump has them (src/sched/dump.cc).
//
// Law    goroutines with the same stack, state and maker are one block. They are grouped by their
//        addresses first and named afterwards: naming each would take minutes.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "picture.h"

namespace vole_command::outside {

// `frames`: of each goroutine, from unwind_all. A naming must be in place.
std::string text_of(const picture& p, const found_root& root,
                    const std::vector<std::vector<std::uint64_t>>& frames);

}  // namespace vole_command::outside
