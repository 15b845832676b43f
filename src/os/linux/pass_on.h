// Passes a signal that is not ours on to the handler that would have had it without us.
//
// Who    the handlers of this room (*_sig.cc), in signal context.
#pragma once

#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

namespace vole::os {

inline bool is_handler(const struct sigaction& a) noexcept {
  return (a.sa_flags & SA_SIGINFO) != 0 || (a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN);
}

// With `mask` as the thread's meanwhile.
inline void call_handler(const struct sigaction& a, const sigset_t& mask, int number,
                         siginfo_t* info, void* context) noexcept {
  sigset_t was;
  pthread_sigmask(SIG_SETMASK, &mask, &was);
  if ((a.sa_flags & SA_SIGINFO) == 0) {
    a.sa_handler(number);
  } else {
    a.sa_sigaction(number, info, context);
  }
  pthread_sigmask(SIG_SETMASK, &was, nullptr);
}

// The default action must still happen: it is restored, so that the instruction faults again. A signal
// that was sent by kill() does not come again by itself, so it is raised.
inline void die_of(int number, bool sent) noexcept {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(number, &standard, nullptr);
  if (sent) syscall(SYS_tgkill, getpid(), static_cast<pid_t>(syscall(SYS_gettid)), number);
}

}  // namespace vole::os
