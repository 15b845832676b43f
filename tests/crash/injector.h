// Has the N-th system call of one kind fail: a filter of seccomp asks a thread that stands outside of it,
// for every such call.
//
// Law    threads inherit the filter from the thread that makes them: the one that answers is there before.
// Note   programs that are started inherit it, too. What they do before they are others fails like ours.
#pragma once

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <string>
#include <system_error>

namespace vole::crash_test {

inline constexpr int kLost = 3, kNoFilter = 77;

inline struct {
  std::atomic<int> listener{-1};
  std::atomic<int> calls{0};
  std::atomic<bool> counts{false};
  int error = 0, nth = 0;
} faults;

// A program that was started and is itself by now makes calls of its own.
inline bool is_ours(const seccomp_notif& asked) {
  if (asked.data.nr == SYS_execve) return true;
  const std::string task = "/proc/self/task/" + std::to_string(asked.pid);
  return access(task.c_str(), F_OK) == 0;
}

// A wait may end for no reason; a wake-up never fails.
inline bool may_fail(const seccomp_notif& asked) {
  if (!is_ours(asked)) return false;
  if (asked.data.nr != SYS_futex) return true;
  const int command = static_cast<int>(asked.data.args[1]) & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

inline void answer() {
  while (faults.listener < 0) sched_yield();
  for (;;) {
    seccomp_notif asked{};
    if (ioctl(faults.listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
      continue;  // it is gone again
    seccomp_notif_resp said{};
    said.id = asked.id;
    if (faults.counts && may_fail(asked) && ++faults.calls == faults.nth) {
      said.error = -faults.error;
    } else {
      said.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    ioctl(faults.listener, SECCOMP_IOCTL_NOTIF_SEND, &said);
  }
}

inline bool filter(unsigned call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog all{4, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const long fd =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &all);
  faults.listener = static_cast<int>(fd);
  return fd >= 0;
}

// An error that is reported is as good as success.
template <class F>
bool attempt(F work) {
  try {
    work();
    return true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return false;
}

}  // namespace vole::crash_test
