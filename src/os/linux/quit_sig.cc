// SIGQUIT, for a dump.
//
// Law    errno is preserved. The handler is installed once and never taken away: the handler that was
//        there before us has its turn afterwards. If there was none, or SIGQUIT was ignored, the
//        program goes on; in a forked child, where nobody would print anything, the default action
//        happens.
// Note   a handler that is put over ours later (signal_notify, for one) has the signal alone.
#include <unistd.h>
#include <cerrno>
#include <csignal>

#include "base/atomic.h"
#include "os/linux/pass_on.h"
#include "os/os.h"

namespace vole::os {
namespace {

constinit base::atomic<quit_hook> current_hook{nullptr};
constinit base::atomic<pid_t> home{0};  // the process that installed it; 0: not installed
constinit struct sigaction before {};   // written before ours is installed

extern "C" void vole_on_quit(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool at_home = getpid() == home.load(base::relaxed);
  if (at_home) current_hook.load(std::memory_order_acquire)();  // pairs: install
  if (is_handler(before)) {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    sigorset(&mask, &mask, &before.sa_mask);
    call_handler(before, mask, number, info, context);
  } else if (!at_home && before.sa_handler == SIG_DFL) {
    die_of(number, true);
  }
  errno = saved;
}

}  // namespace

int install_quit_handler(quit_hook hook) noexcept {
  current_hook.store(hook, std::memory_order_release);  // pairs: vole_on_quit
  pid_t none = 0;
  if (!home.compare_exchange_strong(none, getpid(), base::seq_cst)) return 0;
  struct sigaction ours {};
  ours.sa_sigaction = vole_on_quit;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  if (sigaction(SIGQUIT, nullptr, &before) == 0 && sigaction(SIGQUIT, &ours, nullptr) == 0)
    return 0;
  home.store(0, base::relaxed);
  return errno;
}

}  // namespace vole::os
