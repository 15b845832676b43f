// The end of a runtime, step by step; the order is the law (boot.h).
#pragma once

#include <cstddef>

#include "os/os.h"

namespace vole::rt {

// Threads that have left the runtime for good and run the destructors of their thread_local
// objects. Those are user code, which may use vole: join them with no lock held.
struct leaving_threads {
  os::thread* handles = nullptr;
  std::size_t n = 0;
  std::size_t bytes = 0;
  void join() noexcept;
};

// The world is stopped and no guest is inside. Afterwards the runtime is gone; on_stopped is
// called once nothing of it can be reached any more, just before its memory goes.
leaving_threads end_everything(void (*on_stopped)() noexcept) noexcept;

void say_farewell() noexcept;  // an M's last word

}  // namespace vole::rt
