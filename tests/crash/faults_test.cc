// Every system call that the library makes fails once: the first of its kind, the second, and so on.
// The program gets on, or is told by an error; or it ends with a sentence. It never hangs, and no
// goroutine is lost. The same for operator new, where nothing but std::bad_alloc may come of it.
//
// VOLE_FAULTS=N: the first N of each kind, instead of three.

#include <sys/syscall.h>

#include "faults.h"

namespace vole::crash_test {
namespace {

// What man pages say of each, and what a sandbox or an old kernel says. The call is not made, so an
// error counts only if it means that nothing has happened: a connect that was interrupted goes on. And
// read and write are those of an eventfd, for files and sockets have calls of their own.
const std::vector<fault>& faults() {
  static const std::vector<fault> all = {
      {"accept4", SYS_accept4, {EINTR, ECONNABORTED, EMFILE, ENOMEM}},
      {"bind", SYS_bind, {EADDRINUSE}},
      {"clone3", SYS_clone3, {EAGAIN, ENOMEM, ENOSYS}},
      {"close", SYS_close, {EINTR, EIO}},
      {"connect", SYS_connect, {ECONNREFUSED, EAGAIN}},
      {"epoll_create1", SYS_epoll_create1, {EMFILE, ENOMEM}},
      {"epoll_ctl", SYS_epoll_ctl, {ENOMEM, ENOSPC}},
      {"epoll_pwait", SYS_epoll_pwait, {EINTR}},
      {"epoll_pwait2", SYS_epoll_pwait2, {EINTR, ENOSYS}},
      {"eventfd2", SYS_eventfd2, {EMFILE}},
      {"fcntl", SYS_fcntl, {EINTR}},
      {"fsync", SYS_fsync, {EINTR, EIO}},
      {"futex", SYS_futex, {EINTR, EAGAIN}},
      {"getsockname", SYS_getsockname, {ENOBUFS}},
      {"getsockopt", SYS_getsockopt, {ENOPROTOOPT}},
      {"listen", SYS_listen, {EADDRINUSE}},
      {"madvise", SYS_madvise, {EINVAL, ENOMEM, EAGAIN}},
      {"membarrier", SYS_membarrier, {ENOSYS}},
      {"mmap", SYS_mmap, {ENOMEM, EAGAIN}},
      {"mprotect", SYS_mprotect, {ENOMEM}},
      {"munmap", SYS_munmap, {ENOMEM}},
      {"openat", SYS_openat, {EMFILE, EINTR}},
      {"ppoll", SYS_ppoll, {EINTR, ENOMEM}},
      {"prctl", SYS_prctl, {EINVAL}},
      {"pwritev2", SYS_pwritev2, {EINTR, ENOSPC, EOPNOTSUPP}},
      {"read", SYS_read, {EINTR}},
      {"recvfrom", SYS_recvfrom, {EINTR, ECONNRESET, ENOMEM}},
      {"rt_sigaction", SYS_rt_sigaction, {EINVAL}},
      {"rt_sigprocmask", SYS_rt_sigprocmask, {EINVAL}},
      {"sched_getaffinity", SYS_sched_getaffinity, {EINVAL}},
      {"sendto", SYS_sendto, {EINTR, EPIPE, ENOBUFS}},
      {"setsockopt", SYS_setsockopt, {ENOPROTOOPT}},
      {"sigaltstack", SYS_sigaltstack, {ENOMEM}},
      {"socket", SYS_socket, {EMFILE, EACCES}},
      {"write", SYS_write, {EINTR}},
  };
  return all;
}

TEST(Faults, NeitherHangNorLoseAGoroutine) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the calls would be the sanitizer's";
  if (emulated()) GTEST_SKIP() << "the emulator makes calls of its own";
  const char* const wanted = std::getenv("VOLE_FAULTS");
  const int most = wanted != nullptr ? std::atoi(wanted) : 3;
  int runs = 0, died = 0;
  for (const fault& f : faults())
    for (const int error : f.errors)
      for (int n = 1; n <= most; ++n) {
        const std::string scenario =
            std::to_string(f.call) + ":" + std::to_string(error) + ":" + std::to_string(n);
        const ended e = run_child("faults_child", scenario, {"VOLE_MAXPROCS=2"});
        if (WIFEXITED(e.status) && WEXITSTATUS(e.status) == 77)
          GTEST_SKIP() << "no filter that asks may be set here";
        ++runs;
        died += WIFSIGNALED(e.status) ? 1 : 0;
        EXPECT_TRUE(ends_well(e)) << f.name << " number " << n << " fails, " << strerror(error)
                                  << ": " << detail::describe(e);
        const auto said = e.out.find("calls ");
        if (said != std::string::npos && std::atoi(e.out.c_str() + said + 6) < n) break;
      }
  std::printf("%d runs, %d of them ended by a sentence\n", runs, died);
}

// Until nothing fails any more.
TEST(Faults, EveryAllocationFailsOnce) {
  if (kAddressSanitizer || kThreadSanitizer)
    GTEST_SKIP() << "the sanitizer has an operator new of its own";
  for (int n = 1;; ++n) {
    const ended e = run_child("faults_child", "new:0:" + std::to_string(n), {"VOLE_MAXPROCS=2"});
    ASSERT_TRUE(exited(e, 0)) << "operator new number " << n << " fails";
    const auto said = e.out.find("calls ");
    ASSERT_NE(said, std::string::npos);
    if (std::atoi(e.out.c_str() + said + 6) < n) {
      std::printf("%d runs\n", n);
      return;
    }
  }
}

}  // namespace
}  // namespace vole::crash_test
