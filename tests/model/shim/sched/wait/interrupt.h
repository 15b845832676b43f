// The twin of src/sched/wait/interrupt.h: what a file's waits see of a context.
#pragma once

#include "sched/park.h"

namespace vole::rt {

struct interrupt {
  bool (*claim)(interrupt& i, M* m) noexcept = nullptr;
  void (*fire)(interrupt& i, M* m) noexcept = nullptr;
  interrupt* next = nullptr;
  interrupt* prev = nullptr;
  bool linked = false;
};

class interrupter {
 public:
  virtual bool arm(interrupt& i) noexcept = 0;
  virtual bool disarm(interrupt& i) noexcept = 0;

 protected:
  ~interrupter() = default;
};

}  // namespace vole::rt
