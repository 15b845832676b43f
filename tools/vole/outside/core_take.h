// A core of a live process: what the kernel would write if it died now.
//
// Who    core.cc.
// Law    all threads stand still while memory is read, so it is of one instant; then they go on.
//        Nothing is written into the process.
// Note   gdb's gcore gives up a mapping at the first page that it cannot read, and every stack of
//        a goroutine ends in such a page. Here a page that cannot be read is a hole, and so is one
//        that was never touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "target.h"

namespace vole_command::outside {

struct taken_core {
  std::string program;  // a path that leads to the process's program, even if it has ended
  std::size_t threads = 0;
  std::uint64_t bytes = 0;  // of memory, without the holes
  double paused_ms = 0;
  std::shared_ptr<const target> process;  // keeps the program open
};

taken_core take_core(int pid, const std::string& path);

}  // namespace vole_command::outside
