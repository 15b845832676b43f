// A picture in words: what the library's own dump says (src/sched/report/dump_text.h), by the same code.
#pragma once

#include <string>
#include <vector>

#include "picture.h"

namespace vole_command::outside {

// `frames`: of each goroutine, from unwind_all. A naming must be in place. `all_frames`: vole's own,
// too.
std::string text_of(const picture& p, const found_root& root,
                    const std::vector<std::vector<std::uint64_t>>& frames, bool all_frames);

}  // namespace vole_command::outside
