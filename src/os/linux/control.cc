#include "os/control.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "os/os.h"

namespace vole::os {
namespace {

constexpr std::int64_t kMillisecond = 1000 * 1000;
constexpr std::int64_t kLineWithin = 2000 * kMillisecond;
constexpr std::int64_t kTakenWithin = 5000 * kMillisecond;
constexpr int kMostPassed = 4;

// A folder that only we can change. 0 or errno.
int private_folder(const char* path) noexcept {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return errno;
  const int fd = open(path, O_DIRECTORY | O_NOFOLLOW | O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat about = {};
  const int error = fstat(fd, &about) != 0 ? errno : 0;
  close(fd);
  if (error != 0) return error;
  return about.st_uid == geteuid() && (about.st_mode & 077) == 0 ? 0 : EPERM;
}

int choose_path(sockaddr_un* at) noexcept {
  const char* const own = environment("XDG_RUNTIME_DIR");
  const auto pid = static_cast<long>(getpid());
  char folder[sizeof at->sun_path];
  struct stat about = {};
  int n = 0;
  if (own != nullptr && own[0] == '/' && stat(own, &about) == 0 && about.st_uid == geteuid() &&
      (about.st_mode & 022) == 0) {
    n = std::snprintf(folder, sizeof folder, "%s/vole", own);
  } else {
    n = std::snprintf(folder, sizeof folder, "/tmp/vole-%lu",
                      static_cast<unsigned long>(geteuid()));
  }
  if (n < 0 || static_cast<std::size_t>(n) >= sizeof folder) return ENAMETOOLONG;
  if (const int error = private_folder(folder)) return error;
  n = std::snprintf(at->sun_path, sizeof at->sun_path, "%s/%ld", folder, pid);
  return n < 0 || static_cast<std::size_t>(n) >= sizeof at->sun_path ? ENAMETOOLONG : 0;
}

int listen_at(control_socket* s, const sockaddr_un& at) noexcept {
  s->wake_word = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s->wake_word < 0 || s->listener < 0) return errno;
  unlink(at.sun_path);  // of a process that had our number and died
  // The mode first: the path has it from its first moment.
  if (fchmod(s->listener, 0600) != 0) return errno;
  if (bind(s->listener, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) return errno;
  std::memcpy(s->path, at.sun_path, sizeof s->path);
  if (chmod(at.sun_path, 0600) != 0 || listen(s->listener, 8) != 0) return errno;
  return 0;
}

int milliseconds(std::int64_t ns) noexcept {
  if (ns < 0) return -1;
  const std::int64_t ms = (ns + kMillisecond - 1) / kMillisecond;
  return static_cast<int>(ms < 1000 * 1000 ? ms : 1000 * 1000);
}

// True: `connection` is ready for `events` before `deadline`, and nobody rang.
bool await_connection(const control_socket& s, int connection, short events,
                      std::int64_t deadline) noexcept {
  for (;;) {
    const std::int64_t left = deadline - now_ns();
    if (left <= 0) return false;
    pollfd both[] = {{s.wake_word, POLLIN, 0}, {connection, events, 0}};
    const int n = poll(both, 2, milliseconds(left));
    if (n < 0 && errno != EINTR) return false;
    if (n > 0 && both[0].revents != 0) return false;
    if (n > 0 && both[1].revents != 0) return true;
  }
}

bool may_ask(int connection) noexcept {
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

// Keeps the first descriptor that came, closes all others.
void take_passed(const msghdr& m, int* passed) noexcept {
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(const_cast<msghdr*>(&m), c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < n; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      if (*passed < 0) {
        *passed = fd;
      } else {
        close(fd);
      }
    }
  }
}

ssize_t receive_some(int connection, char* to, std::size_t room, int* passed) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))];
  iovec part = {to, room};
  msghdr m = {};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(connection, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (n >= 0) take_passed(m, passed);
  return n;
}

}  // namespace

int open_control(control_socket* s, const char** what) noexcept {
  sockaddr_un at = {};
  at.sun_family = AF_UNIX;
  *what = "its folder, $XDG_RUNTIME_DIR/vole or /tmp/vole-UID, which must be ours alone";
  if (const int error = choose_path(&at)) return error;
  *what = "the socket";
  const int error = listen_at(s, at);
  if (error != 0) close_control(*s);
  return error;
}

void ring_control(const control_socket& s) noexcept {
  const std::uint64_t one = 1;
  while (write(s.wake_word, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void close_control(control_socket& s) noexcept {
  if (s.path[0] != '\0') unlink(s.path);
  close_descriptor(s.listener);
  close_descriptor(s.wake_word);
  s = {};
}

control_news await_control(const control_socket& s, int connection, std::int64_t ns) noexcept {
  pollfd all[] = {{s.wake_word, POLLIN, 0}, {s.listener, POLLIN, 0}, {connection, POLLRDHUP, 0}};
  const int n = poll(all, 3, milliseconds(ns));
  if (n > 0 && all[0].revents != 0) return control_news::woken;
  if (n > 0 && all[2].revents != 0) return control_news::gone;
  if (n > 0 && all[1].revents != 0) return control_news::somebody;
  return control_news::nothing;
}

int accept_control(const control_socket& s) noexcept {
  const int connection = accept4(s.listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection >= 0 && may_ask(connection)) return connection;
  // Without a descriptor to spare, the client that waits would wake us again at once.
  if (connection < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
    pollfd wake_word = {s.wake_word, POLLIN, 0};
    poll(&wake_word, 1, 100);
  }
  close_descriptor(connection);
  return -1;
}

bool receive_line(const control_socket& s, int connection, char* line, std::size_t room,
                  int* passed) noexcept {
  *passed = -1;
  const std::int64_t deadline = now_ns() + kLineWithin;
  std::size_t used = 0;
  while (used + 1 < room && await_connection(s, connection, POLLIN, deadline)) {
    const ssize_t n = receive_some(connection, line + used, room - 1 - used, passed);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) break;
    used += static_cast<std::size_t>(n);
    line[used] = '\0';
    char* const end = static_cast<char*>(std::memchr(line, '\n', used));
    if (end == nullptr) continue;
    *end = '\0';
    return true;
  }
  close_descriptor(*passed);
  *passed = -1;
  return false;
}

bool send_text(const control_socket& s, int connection, const char* text,
               std::size_t bytes) noexcept {
  std::int64_t deadline = now_ns() + kTakenWithin;
  while (bytes > 0) {
    // Text that can be sent at once is sent even after ring_control.
    const ssize_t n = send(connection, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (!await_connection(s, connection, POLLOUT, deadline)) return false;
      continue;
    }
    if (n <= 0) return false;
    text += n;
    bytes -= static_cast<std::size_t>(n);
    deadline = now_ns() + kTakenWithin;
  }
  return true;
}

void close_descriptor(int fd) noexcept {
  if (fd >= 0) close(fd);
}

bool is_writable_file(int fd) noexcept {
  struct stat about = {};
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &about) == 0 &&
         S_ISREG(about.st_mode);
}

}  // namespace vole::os
