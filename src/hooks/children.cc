// wait, waitpid, wait3, wait4, waitid.
//
// Law    one child that is waited for until it ends has a descriptor (pidfd), which is waited for by
//        parking. Any child of several, and those that stop or go on, are the bare call's, in
//        blocking().

#include <sys/resource.h>

#include <cerrno>

#include "hooks/callers.h"
#include "hooks/wait.h"

namespace vole::hooks {
namespace {

// Parks until that child has ended. False: it cannot be waited for in this way.
bool park_until_ended(const caller& by, pid_t child) noexcept {
  if (must_not_park(by)) return false;
  const long fd = kernel::pidfd_open(child, 0);
  if (fd < 0) return false;
  pollfd p{static_cast<int>(fd), POLLIN, 0};
  const long n = park_until_ready(by, &p, 1, foreign::kNoDeadline);
  kernel::close(p.fd);
  return n == 1 && (p.revents & POLLNVAL) == 0;
}

long wait_for(const caller& by, pid_t child, int* status, int flags, rusage* used) noexcept {
  const auto as_it_was = [=] { return kernel::wait4(child, status, flags, used); };
  if ((flags & WNOHANG) != 0) return as_it_was();
  if (child <= 0 || (flags & (WUNTRACED | WCONTINUED)) != 0) return in_blocking(by, as_it_was);
  const long now = kernel::wait4(child, status, flags | WNOHANG, used);
  if (now != 0) return now;
  park_until_ended(by, child);
  return in_blocking(by, as_it_was);
}

long wait_id(const caller& by, idtype_t what, id_t id, siginfo_t* about, int flags) noexcept {
  const auto as_it_was = [=] { return kernel::waitid(what, id, about, flags, nullptr); };
  if ((flags & WNOHANG) != 0) return as_it_was();
  if (what == P_PID && (flags & (WSTOPPED | WCONTINUED)) == 0 && (flags & WEXITED) != 0) {
    siginfo_t found{};
    const long now = kernel::waitid(what, id, &found, flags | WNOHANG | WNOWAIT, nullptr);
    if (now == 0 && found.si_pid == 0) park_until_ended(by, static_cast<pid_t>(id));
  }
  return in_blocking(by, as_it_was);
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

pid_t wait(int* status) {
  if (!caught(symbol::wait_)) return bare().wait(status);
  return static_cast<pid_t>(give(wait_for(VOLE_CALLER(wait), -1, status, 0, nullptr)));
}

pid_t waitpid(pid_t child, int* status, int flags) {
  if (!caught(symbol::waitpid_)) return bare().waitpid(child, status, flags);
  return static_cast<pid_t>(give(wait_for(VOLE_CALLER(waitpid), child, status, flags, nullptr)));
}

pid_t wait3(int* status, int flags, rusage* used) noexcept {
  if (!caught(symbol::wait3_)) return bare().wait3(status, flags, used);
  return static_cast<pid_t>(give(wait_for(VOLE_CALLER(wait3), -1, status, flags, used)));
}

pid_t wait4(pid_t child, int* status, int flags, rusage* used) noexcept {
  if (!caught(symbol::wait4_)) return bare().wait4(child, status, flags, used);
  return static_cast<pid_t>(give(wait_for(VOLE_CALLER(wait4), child, status, flags, used)));
}

int waitid(idtype_t what, id_t id, siginfo_t* about, int flags) {
  if (!caught(symbol::waitid_)) return bare().waitid(what, id, about, flags);
  return static_cast<int>(give(wait_id(VOLE_CALLER(waitid), what, id, about, flags)));
}

}  // extern "C"
