// Goroutines as threads of a core, so that every debugger shows them.
//
// Who    core.cc: `vole core threads` on a copy, `vole core take` on what it has just written.
// Law    nothing that the core holds is changed. The notes are written anew behind its end, with
//        one more for each goroutine that is on no thread; the header then points there.
// Note   such a note has two registers of its own: sp = G::sp and pc = vole_land, whose unwind
//        table says where the others are. Its thread number is 1,000,000,000 plus the goroutine's.
// Proof  tests/tools/core_test.py
#pragma once

#include <cstddef>
#include <string>

namespace vole_command::outside {

// `core` is changed in place. How many goroutines became threads.
std::size_t add_goroutine_threads(const std::string& core, const std::string& program);

}  // namespace vole_command::outside
