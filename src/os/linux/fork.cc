#include <pthread.h>

#include "base/atomic.h"
#include "os/os.h"

namespace vole::os {
namespace {

constinit base::atomic<void (*)() noexcept> child_hook{nullptr};
constinit base::atomic<bool> registered{false};

extern "C" void vole_in_fork_child() {
  auto* const hook = child_hook.load(std::memory_order_acquire);  // pairs: on_fork_child
  if (hook != nullptr) hook();
}

}  // namespace

bool on_fork_child(void (*child)() noexcept) noexcept {
  child_hook.store(child, std::memory_order_release);  // pairs: vole_in_fork_child
  if (registered.exchange(true, std::memory_order_acq_rel)) return true;
  if (pthread_atfork(nullptr, nullptr, vole_in_fork_child) == 0) return true;
  registered.store(false, std::memory_order_release);
  return false;
}

}  // namespace vole::os
