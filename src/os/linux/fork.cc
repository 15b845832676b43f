#include <pthread.h>

#include "base/atomic.h"
#include "os/os.h"

namespace vole::os {
namespace {

constinit base::atomic<const fork_hooks*> current{nullptr};
constinit base::atomic<bool> registered{false};

const fork_hooks* hooks_now() noexcept {
  return current.load(std::memory_order_acquire);  // pairs: on_fork
}

extern "C" void vole_before_fork() { hooks_now()->before(); }
extern "C" void vole_in_fork_parent() { hooks_now()->in_parent(); }
extern "C" void vole_in_fork_child() { hooks_now()->in_child(); }

}  // namespace

bool on_fork(const fork_hooks* hooks) noexcept {
  current.store(hooks, std::memory_order_release);  // pairs: hooks_now
  if (registered.exchange(true, std::memory_order_acq_rel)) return true;
  if (pthread_atfork(vole_before_fork, vole_in_fork_parent, vole_in_fork_child) == 0) return true;
  registered.store(false, std::memory_order_release);
  return false;
}

}  // namespace vole::os
