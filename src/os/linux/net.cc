#include "os/net.h"

#include <arpa/nameser.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <resolv.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/atomic.h"
#include "base/race.h"
#include "os/linux/bare_calls.h"
#include "os/linux/interrupted.h"
#include "os/os.h"

namespace vole::os::net {
namespace {

bool sigpipe_pending() noexcept {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

// SIGPIPE is blocked for this thread, and one of our own making is taken back. (A call that has
// written a part before it failed reports the part, and raises the signal all the same.) One that
// was pending before is somebody else's and stays.
template <class Call>
result without_sigpipe(Call call) noexcept {
  sigset_t pipe, before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigprocmask(SIG_BLOCK, &pipe, &before);
  const bool theirs = sigismember(&before, SIGPIPE) == 1 && sigpipe_pending();
  const result r = told(call);
  const timespec at_once{};
  while (!theirs && sigtimedwait(&pipe, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return r;
}

result of(int value) noexcept { return value >= 0 ? result{value, 0} : result{0, errno}; }
result of_bare(long value) noexcept {
  return value >= 0 ? result{value, 0} : result{0, static_cast<int>(-value)};
}

}  // namespace

result read(int fd, void* to, std::size_t n) noexcept {
  return told([=] { return bare::read(fd, to, n); });
}
result write(int fd, const iovec* parts, int count) noexcept {
  return without_sigpipe([=] { return bare::writev(fd, parts, count); });
}
result send(int fd, const void* from, std::size_t n) noexcept {
  return told([=] { return bare::sendto(fd, from, n, MSG_NOSIGNAL, nullptr, 0); });
}
result send_parts(int fd, const iovec* parts, int count) noexcept {
  msghdr m{};
  m.msg_iov = const_cast<iovec*>(parts);
  m.msg_iovlen = static_cast<std::size_t>(count);
  return told([&] { return bare::sendmsg(fd, &m, MSG_NOSIGNAL); });
}
result send_file(int to, int from, std::int64_t* offset, std::size_t n) noexcept {
  static_assert(sizeof(off_t) == sizeof(*offset));
  return without_sigpipe(
      [=] { return bare::sendfile(to, from, reinterpret_cast<off_t*>(offset), n); });
}
result splice(int from, int to, std::size_t n) noexcept {
  return without_sigpipe(
      [=] { return bare::splice(from, to, n, SPLICE_F_MOVE | SPLICE_F_NONBLOCK); });
}
result receive_from(int fd, void* to, std::size_t n, sockaddr* peer, socklen_t* size) noexcept {
  return told([=] { return bare::recvfrom(fd, to, n, 0, peer, size); });
}
result send_to(int fd, const void* from, std::size_t n, const sockaddr* peer,
               socklen_t size) noexcept {
  return told([=] { return bare::sendto(fd, from, n, MSG_NOSIGNAL, peer, size); });
}

result socket(int domain, int type, int protocol) noexcept {
  return of(::socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}
result bind(int fd, const sockaddr* at, socklen_t size) noexcept {
  return of(::bind(fd, at, size));
}
result listen(int fd, int backlog) noexcept { return of(::listen(fd, backlog)); }
result accept(int fd, sockaddr* peer, socklen_t* size) noexcept {
  const socklen_t room = *size;
  return told([=] {
    *size = room;
    return bare::accept4(fd, peer, size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  });
}
result connect(int fd, const sockaddr* to, socklen_t size) noexcept {
  const result r = of_bare(bare::connect(fd, to, size));
  return r.error == EINTR ? result{0, EINPROGRESS} : r;  // the attempt goes on
}
result shut_down(int fd, int how) noexcept { return of(::shutdown(fd, how)); }
result set_option(int fd, int level, int name, int value) noexcept {
  return of(::setsockopt(fd, level, name, &value, sizeof(value)));
}
result set_linger(int fd, int seconds) noexcept {
  const linger l{1, seconds};
  return of(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
}
result option(int fd, int level, int name) noexcept {
  int value = 0;
  socklen_t size = sizeof(value);
  const result r = of(::getsockopt(fd, level, name, &value, &size));
  return r.ok() ? result{value, 0} : r;
}
result local_name(int fd, sockaddr* at, socklen_t* size) noexcept {
  return of(::getsockname(fd, at, size));
}
result peer_name(int fd, sockaddr* at, socklen_t* size) noexcept {
  return of(::getpeername(fd, at, size));
}

namespace {

// One byte, and room for descriptors beside it.
struct fd_message {
  explicit fd_message(std::size_t fds) noexcept {
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    m.msg_control = room;
    m.msg_controllen = CMSG_LEN(fds * sizeof(int));  // not SPACE: its padding would hold one more
  }
  char byte = 0;
  iovec part{&byte, 1};
  msghdr m{};
  alignas(cmsghdr) char room[CMSG_SPACE(kMostFds * sizeof(int))] = {};
};

// All that came, to `fds`.
std::size_t take_fds(msghdr& m, int* fds) noexcept {
  std::size_t n = 0;
  for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t bytes = c->cmsg_len - CMSG_LEN(0);
    std::memcpy(fds + n, CMSG_DATA(c), bytes);
    n += bytes / sizeof(int);
  }
  return n;
}

}  // namespace

result send_fds(int fd, const int* fds, std::size_t n) noexcept {
  fd_message message(n);
  cmsghdr* const c = CMSG_FIRSTHDR(&message.m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(n * sizeof(int));
  std::memcpy(CMSG_DATA(c), fds, n * sizeof(int));
  return told([&] { return bare::sendmsg(fd, &message.m, MSG_NOSIGNAL); });
}
result receive_fds(int fd, int* fds, std::size_t most) noexcept {
  fd_message message(most);
  const std::size_t room = message.m.msg_controllen;
  const result r = told([&] {
    message.m.msg_controllen = room;
    return bare::recvmsg(fd, &message.m, MSG_CMSG_CLOEXEC);
  });
  if (!r.ok()) return r;
  const std::size_t n = take_fds(message.m, fds);
  if ((message.m.msg_flags & MSG_CTRUNC) != 0) {
    for (std::size_t i = 0; i < n; ++i) bare::close(fds[i]);
    return {0, EMSGSIZE};
  }
  if (r.value == 0 && n == 0) return {-1, 0};
  return {static_cast<std::int64_t>(n), 0};
}
result peer_credentials(int fd, std::int64_t (&pid_uid_gid)[3]) noexcept {
  ucred who{};
  socklen_t size = sizeof(who);
  const result r = of(::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size));
  if (!r.ok()) return r;
  pid_uid_gid[0] = who.pid;
  pid_uid_gid[1] = who.uid;
  pid_uid_gid[2] = who.gid;
  return r;
}
result socket_pair(int (&ends)[2]) noexcept {
  return of(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
}

result make_nonblocking(int fd, bool yes) noexcept {
  const result had = of(::fcntl(fd, F_GETFL));
  if (!had.ok()) return had;
  const int flags = static_cast<int>(had.value);
  const int wanted = yes ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (wanted != flags)
    if (const result r = of(::fcntl(fd, F_SETFL, wanted)); !r.ok()) return r;
  return {(flags & O_NONBLOCK) != 0 ? 1 : 0, 0};
}
result duplicate(int fd) noexcept { return of(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }
result pipe(int (&ends)[2], std::size_t size) noexcept {
  const result r = of(::pipe2(ends, O_NONBLOCK | O_CLOEXEC));
  if (r.ok()) (void)::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(size));
  return r;
}
// Linux: the descriptor is free even if it says EINTR.
// The last one out closes, however the others were ordered.
result close(int fd) noexcept {
  const base::race::unseen here;
  return of_bare(bare::close(fd));
}
result unlink(const char* path) noexcept { return of(::unlink(path)); }

result ready_now(int fd, bool for_writing) noexcept {
  if (fd < 0) return {0, EBADF};  // poll passes over such a one, and would wait for ever
  pollfd p{fd, static_cast<short>(for_writing ? POLLOUT : POLLIN | POLLPRI | POLLRDHUP), 0};
  const result r = told([&] {
    constexpr timespec kNow{};
    return bare::ppoll(&p, 1, &kNow);
  });
  if (r.ok() && (p.revents & POLLNVAL) != 0) return {0, EBADF};
  return r;
}

result poll(pollfd* fds, unsigned n, std::int64_t deadline) noexcept {
  return told([=] {
    if (deadline == INT64_MAX) return bare::ppoll(fds, n, nullptr);
    const std::int64_t left = deadline <= 0 ? 0 : deadline - os::now_ns();
    const timespec t{left > 0 ? left / 1'000'000'000 : 0, left > 0 ? left % 1'000'000'000 : 0};
    return bare::ppoll(fds, n, &t);
  });
}

int most_pending() noexcept {
  int n = SOMAXCONN;
  if (std::FILE* const f = std::fopen("/proc/sys/net/core/somaxconn", "re")) {
    if (std::fscanf(f, "%d", &n) != 1 || n <= 0) n = SOMAXCONN;
    std::fclose(f);
  }
  return n < 65535 ? n : 65535;  // kernels before 4.1 keep 16 bits
}

lookup_result lookup(const char* host, const char* service, int family, int socket_type) noexcept {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = socket_type;
  hints.ai_flags = host == nullptr ? AI_PASSIVE : 0;
  lookup_result r;
  r.eai = ::getaddrinfo(host, service, &hints, &r.list);
  if (r.eai == EAI_SYSTEM) r.error = errno;
  if (r.eai != 0) r.list = nullptr;
  return r;
}
void free_lookup(addrinfo* list) noexcept {
  if (list != nullptr) ::freeaddrinfo(list);
}
lookup_result name_of(const sockaddr* at, socklen_t size, char* name) noexcept {
  lookup_result r;
  r.eai = ::getnameinfo(at, size, name, kMostName, nullptr, 0, NI_NAMEREQD);
  if (r.eai == EAI_SYSTEM) r.error = errno;
  return r;
}

namespace {
base::atomic<bool> dns_is_ours{false};
sockaddr_in dns_server{};
}  // namespace

void set_dns_server(const sockaddr_in* at) noexcept {
  if (at != nullptr) dns_server = *at;
  dns_is_ours.store(at != nullptr, base::seq_cst);
}
result ask_dns(const char* name, int type, unsigned char* to, std::size_t room) noexcept {
  if (::res_init() != 0) return {0, EAGAIN};  // this thread's own state; reads resolv.conf again
  if (dns_is_ours.load(base::seq_cst)) {
    _res.nscount = 1;
    _res.nsaddr_list[0] = dns_server;
    _res.retrans = 1;
    _res.retry = 5;
  }
  const int n = ::res_search(name, ns_c_in, type, to, static_cast<int>(room));
  const int why = h_errno;
  ::res_nclose(&_res);
  if (n < 0) return {0, why == HOST_NOT_FOUND || why == NO_DATA ? ENOENT : EAGAIN};
  if (static_cast<std::size_t>(n) > room) return {0, EMSGSIZE};
  return {n, 0};
}
std::uint32_t zone_index(const char* name) noexcept { return ::if_nametoindex(name); }
bool zone_name(std::uint32_t index, char* name16) noexcept {
  return ::if_indextoname(index, name16) != nullptr;
}

}  // namespace vole::os::net
