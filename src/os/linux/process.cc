#include "os/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "os/linux/bare_calls.h"
#include "os/linux/interrupted.h"

namespace vole::os::process {
namespace {

constexpr int kFirstFree = 3;

// fd, or another for the same file that is none of the standard ones.
result beyond_standard(int fd) noexcept {
  if (fd >= kFirstFree) return {fd, 0};
  const result moved =
      again_if_interrupted([=] { return ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFree); });
  bare::close(fd);
  return moved;
}

// The list of steps that posix_spawn makes in the child.
class instructions {
 public:
  instructions() noexcept {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~instructions() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  instructions(const instructions&) = delete;
  instructions& operator=(const instructions&) = delete;

  int follow(const plan& p) noexcept {  // 0 or errno
    int error = 0;
    for (int i = 0; i < 3 && error == 0; ++i)
      if (p.streams[i] >= 0) error = posix_spawn_file_actions_adddup2(&actions, p.streams[i], i);
    if (error == 0 && p.directory != nullptr)
      error = posix_spawn_file_actions_addchdir_np(&actions, p.directory);
    if (error == 0 && p.own_group) {
      error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
      if (error == 0) error = posix_spawnattr_setpgroup(&attributes, 0);
    }
    return error;
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

}  // namespace

result pipe(int (&ends)[2]) noexcept {
  int made[2];
  if (const result r = again_if_interrupted([&] { return ::pipe2(made, O_CLOEXEC); }); !r.ok())
    return r;
  const result first = beyond_standard(made[0]);
  const result second = beyond_standard(made[1]);
  ends[0] = static_cast<int>(first.value);
  ends[1] = static_cast<int>(second.value);
  if (first.ok() && second.ok()) return {};
  if (first.ok()) bare::close(ends[0]);
  if (second.ok()) bare::close(ends[1]);
  return first.ok() ? second : first;
}
result open_null() noexcept {
  const result r = again_if_interrupted([] { return ::open("/dev/null", O_RDWR | O_CLOEXEC); });
  return r.ok() ? beyond_standard(static_cast<int>(r.value)) : r;
}

result spawn(const plan& p) noexcept {
  instructions to_child;
  if (const int error = to_child.follow(p)) return {0, error};
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, p.arguments[0], &to_child.actions, &to_child.attributes,
                                   const_cast<char* const*>(p.arguments),
                                   const_cast<char* const*>(p.environment));
  return {pid, error};
}
const char* const* own_environment() noexcept { return environ; }

result open_pidfd(pid_t pid) noexcept {
#ifdef SYS_pidfd_open
  return again_if_interrupted([=] { return ::syscall(SYS_pidfd_open, pid, 0); });
#else
  static_cast<void>(pid);
  return {0, ENOSYS};
#endif
}
result look(pid_t pid, ending how, int& code, int& signal) noexcept {
  siginfo_t about{};
  const int flags = WEXITED | (how.wait ? 0 : WNOHANG) | (how.reap ? 0 : WNOWAIT);
  const result r =
      told([&] { return bare::waitid(P_PID, static_cast<id_t>(pid), &about, flags); });
  if (!r.ok() || about.si_pid == 0) return r;
  const bool by_itself = about.si_code == CLD_EXITED;
  code = by_itself ? about.si_status : -1;
  signal = by_itself ? 0 : about.si_status;
  return {1, 0};
}
result kill(pid_t pid, bool group, int signal) noexcept {
  return again_if_interrupted([=] { return ::kill(group ? -pid : pid, signal); });
}
bool is_folder(const char* path) noexcept {
  struct ::stat is {};
  return ::stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

result open_watch() noexcept {
  return again_if_interrupted([] { return ::epoll_create1(EPOLL_CLOEXEC); });
}
result watch(int set, int fd, bool for_writing) noexcept {
  epoll_event wanted{};
  wanted.events = for_writing ? EPOLLOUT : EPOLLIN;
  wanted.data.fd = fd;
  return again_if_interrupted([&] { return ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &wanted); });
}
result unwatch(int set, int fd) noexcept {
  return again_if_interrupted([=] { return ::epoll_ctl(set, EPOLL_CTL_DEL, fd, nullptr); });
}
result watched_ready(int set, int (&fds)[4]) noexcept {
  epoll_event found[4];
  const result r = told([&] { return bare::epoll_wait(set, found, 4, 0); });
  for (std::int64_t i = 0; i < r.value; ++i) fds[i] = found[i].data.fd;
  return r;
}

}  // namespace vole::os::process
