// As faults_test, for what not every program uses: other programs, strict mode, traces, datagrams and
// copies, signals. And all of it with few files open from the start.
//
// VOLE_FAULTS=N: the first N of each kind, instead of one.

#include <sys/syscall.h>

#include "faults.h"

namespace vole::crash_test {
namespace {

struct way_of_faults {
  const char* name;
  std::vector<std::string> environment;
  std::vector<fault> faults;
};
const std::vector<way_of_faults>& ways() {
  static const std::vector<way_of_faults> all = {
      {"process",
       {},
       {{"clone3", SYS_clone3, {EAGAIN, ENOMEM}},
        {"close", SYS_close, {EINTR}},
        {"epoll_create1", SYS_epoll_create1, {EMFILE, ENOMEM}},
        {"epoll_ctl", SYS_epoll_ctl, {ENOMEM, ENOSPC}},
        {"execve", SYS_execve, {EACCES, ENOENT, ENOMEM, E2BIG, ETXTBSY}},
        {"fcntl", SYS_fcntl, {EINTR, EMFILE}},
        {"kill", SYS_kill, {EPERM, ESRCH}},
        {"openat", SYS_openat, {EMFILE, ENFILE, ENOMEM}},
        {"pidfd_open", SYS_pidfd_open, {EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM, ENOSYS, EPERM}},
        {"pipe2", SYS_pipe2, {EMFILE, ENFILE}},
        {"ppoll", SYS_ppoll, {EINTR, ENOMEM}},
        {"read", SYS_read, {EINTR, EIO, EAGAIN}},
        {"rt_sigtimedwait", SYS_rt_sigtimedwait, {EINTR, EAGAIN}},
        {"setpgid", SYS_setpgid, {EACCES, EPERM}},
        {"waitid", SYS_waitid, {EINTR, ECHILD}},
        {"writev", SYS_writev, {EINTR, EAGAIN, EPIPE, EIO}}}},
      {"strict",
       {"VOLE_DEBUG=strictprocs=1"},
       {{"epoll_pwait2", SYS_epoll_pwait2, {EINTR, ENOSYS}},
        {"futex", SYS_futex, {EINTR, EAGAIN}},
        {"membarrier", SYS_membarrier, {ENOSYS, EPERM}},
        {"openat", SYS_openat, {EMFILE, ENOENT, EACCES}},
        {"read", SYS_read, {EINTR, EIO, ESRCH}},
        {"rt_sigaction", SYS_rt_sigaction, {EINVAL}},
        {"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo, {EAGAIN, EPERM, ENOSYS}},
        {"sched_getattr", SYS_sched_getattr, {EINVAL, EPERM, ENOSYS}},
        {"sched_setattr", SYS_sched_setattr, {EINVAL, EPERM, ENOSYS}},
        {"sigaltstack", SYS_sigaltstack, {ENOMEM}},
        {"tgkill", SYS_tgkill, {EAGAIN, EPERM}},
        {"timer_create", SYS_timer_create, {EAGAIN, EINVAL, ENOMEM, ENOTSUP}},
        {"timer_delete", SYS_timer_delete, {EINVAL}},
        {"timer_settime", SYS_timer_settime, {EINVAL}}}},
      {"trace",
       {},
       {{"clone3", SYS_clone3, {EAGAIN, ENOMEM}},
        {"fallocate", SYS_fallocate, {EOPNOTSUPP, ENOSPC, EINTR, EIO}},
        {"fcntl", SYS_fcntl, {EINTR}},
        {"fsync", SYS_fsync, {EIO, EINTR}},
        {"ftruncate", SYS_ftruncate, {EINTR, EIO, EINVAL}},
        {"madvise", SYS_madvise, {EINVAL, EAGAIN}},
        {"membarrier", SYS_membarrier, {ENOSYS}},
        {"mmap", SYS_mmap, {ENOMEM, EAGAIN, ENODEV}},
        {"openat", SYS_openat, {EMFILE, EACCES, EINTR, ENOSPC}},
        {"pwrite64", SYS_pwrite64, {EINTR, ENOSPC, EIO}},
        {"read", SYS_read, {EINTR, EIO}},
        {"readlink", SYS_readlink, {EINVAL, ENOENT}},
        {"writev", SYS_writev, {EINTR, ENOSPC, EIO, EFBIG}}}},
      {"network",
       {},
       {{"accept4", SYS_accept4, {ENFILE, ENOBUFS, EPERM, EPROTO}},
        {"bind", SYS_bind, {EACCES, EADDRNOTAVAIL, ENOMEM}},
        {"clone3", SYS_clone3, {EAGAIN}},
        {"close", SYS_close, {EINTR, EIO}},
        {"connect", SYS_connect, {EACCES, ENETUNREACH, ETIMEDOUT, EADDRNOTAVAIL}},
        {"epoll_ctl", SYS_epoll_ctl, {ENOMEM, ENOSPC, EPERM}},
        {"fcntl", SYS_fcntl, {EINTR}},
        {"getsockname", SYS_getsockname, {ENOBUFS}},
        {"listen", SYS_listen, {EADDRINUSE, EOPNOTSUPP}},
        {"lseek", SYS_lseek, {ESPIPE, EINVAL}},
        {"openat", SYS_openat, {EMFILE, ENFILE, ENOMEM}},
        {"pipe2", SYS_pipe2, {EMFILE, ENFILE}},
        {"pwritev2", SYS_pwritev2, {EINTR, ENOSPC, EOPNOTSUPP, ENOSYS}},
        {"recvfrom", SYS_recvfrom, {EINTR, ECONNREFUSED, ENOMEM, EAGAIN}},
        {"rt_sigtimedwait", SYS_rt_sigtimedwait, {EINTR, EAGAIN}},
        {"sendfile", SYS_sendfile, {EINTR, EAGAIN, EINVAL, ENOSYS, EIO, ENOMEM}},
        {"sendto", SYS_sendto, {EINTR, EAGAIN, ECONNREFUSED, EPERM, ENETUNREACH}},
        {"setsockopt", SYS_setsockopt, {ENOPROTOOPT, ENOMEM}},
        {"socket", SYS_socket, {EMFILE, ENFILE, EAFNOSUPPORT, EPERM}},
        {"splice", SYS_splice, {EINTR, EAGAIN, EINVAL, ENOMEM}}}},
      {"signal",
       {},
       {{"eventfd2", SYS_eventfd2, {EMFILE, ENFILE, ENOMEM}},
        {"read", SYS_read, {EINTR, EAGAIN}},
        {"rt_sigaction", SYS_rt_sigaction, {EINVAL}},
        {"rt_sigprocmask", SYS_rt_sigprocmask, {EINVAL}},
        {"sigaltstack", SYS_sigaltstack, {ENOMEM}}}},
  };
  return all;
}

TEST(FaultsOfParts, NeitherHangNorLoseAGoroutine) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the calls would be the sanitizer's";
  if (emulated()) GTEST_SKIP() << "the emulator makes calls of its own";
  const char* const wanted = std::getenv("VOLE_FAULTS");
  const int most = wanted != nullptr ? std::atoi(wanted) : 1;
  int runs = 0, died = 0;
  for (const way_of_faults& way : ways())
    for (const fault& f : way.faults)
      for (const int error : f.errors)
        for (int n = 1; n <= most; ++n) {
          const std::string scenario = std::string(way.name) + ":" + std::to_string(f.call) + ":" +
                                       std::to_string(error) + ":" + std::to_string(n);
          std::vector<std::string> environment = way.environment;
          environment.push_back("VOLE_MAXPROCS=2");
          const ended e = run_child("faults_ways_child", scenario, environment);
          if (WIFEXITED(e.status) && WEXITSTATUS(e.status) == 77)
            GTEST_SKIP() << "no filter that asks may be set here";
          ++runs;
          died += WIFSIGNALED(e.status) ? 1 : 0;
          EXPECT_TRUE(ends_well(e)) << way.name << ": " << f.name << " number " << n << " fails, "
                                    << strerror(error) << ": " << detail::describe(e);
          const auto said = e.out.find("calls ");
          if (said != std::string::npos && std::atoi(e.out.c_str() + said + 6) < n) break;
        }
  std::printf("%d runs, %d of them ended by a sentence\n", runs, died);
}

// The kernel's limit stands from the first on: with few of them open there is less one can do.
TEST(FaultsOfParts, FewFilesFromTheStart) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "the files would be the sanitizer's";
  if (emulated()) GTEST_SKIP() << "the emulator has files of its own";
  int died = 0;
  for (const char* way : {"everything", "network", "trace"})
    for (int most = 3; most <= 30; ++most) {
      const ended e =
          run_child("faults_ways_child", std::string(way) + ":files:" + std::to_string(most),
                    {"VOLE_MAXPROCS=2"});
      died += WIFSIGNALED(e.status) ? 1 : 0;
      EXPECT_TRUE(ends_well(e)) << way << " with " << most << " files: " << detail::describe(e);
    }
  std::printf("%d ended by a sentence\n", died);
}

}  // namespace
}  // namespace vole::crash_test
