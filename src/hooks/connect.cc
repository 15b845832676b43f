// connect, accept, accept4.
//
// Law    connect makes a blocking stream socket non-blocking while the attempt is started, and
//        puts that back before it waits. The answer is that of a second connect, which has the
//        socket in the same state afterwards as one that blocked.
// Note   there is no accept that does not wait: poll says that somebody is there, and the bare call
//        follows in blocking(), for another process may have been quicker.

#include <netinet/in.h>

#include <cerrno>

#include "hooks/wait.h"

namespace vole::hooks {
namespace {

bool somebody_is_there(int fd) noexcept {
  pollfd p{fd, POLLIN, 0};
  timespec now{};
  return kernel::ppoll(&p, 1, &now, nullptr, 0) == 1;
}
bool listens(int fd) noexcept {
  int yes = 0;
  socklen_t size = sizeof(yes);
  return kernel::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes != 0;
}

long accept_one(const caller& by, int fd, sockaddr* peer, socklen_t* size, int flags) noexcept {
  const auto bare_call = [=] { return kernel::accept4(fd, peer, size, flags); };
  waiting w(by, fd, waiting::way::in);
  while (!somebody_is_there(fd)) {
    if (!listens(fd)) return bare_call();  // which says what is wrong
    const long answer = w.wait();
    if (answer == waiting::kMakeBareCall) break;
    if (answer == -EAGAIN && !w.has_waited()) return bare_call();  // non-blocking: its own answer
    if (answer != waiting::kTryAgain) return answer;
  }
  return in_blocking(by, bare_call);
}

bool is_tcp(int fd, const sockaddr* to, socklen_t size) noexcept {
  if (to == nullptr || size < sizeof(to->sa_family)) return false;
  if (to->sa_family != AF_INET && to->sa_family != AF_INET6) return false;
  int type = 0;
  socklen_t room = sizeof(type);
  return kernel::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &room) == 0 && type == SOCK_STREAM;
}

// The attempt begins; `flags` are the descriptor's own.
long start(int fd, const sockaddr* to, socklen_t size, long flags) noexcept {
  kernel::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  const long r = kernel::connect(fd, to, size);
  kernel::fcntl(fd, F_SETFL, flags);
  return r;
}

long connect_to(const caller& by, int fd, const sockaddr* to, socklen_t size) noexcept {
  const auto bare_call = [=] { return kernel::connect(fd, to, size); };
  const long flags = kernel::fcntl(fd, F_GETFL, 0);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) return bare_call();
  if (!is_tcp(fd, to, size)) return in_blocking(by, bare_call);
  const long r = start(fd, to, size, flags);
  if (r != -EINPROGRESS && r != -EALREADY) return r;
  waiting w(by, fd, waiting::way::out);
  const long answer = w.wait();
  if (answer == -EAGAIN) return r;  // SO_SNDTIMEO is over
  if (answer < 0) return answer;
  return in_blocking(by, bare_call);
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

int accept(int fd, sockaddr* peer, socklen_t* size) {
  if (!caught(symbol::accept_)) return bare().accept(fd, peer, size);
  return static_cast<int>(give(accept_one(VOLE_CALLER(accept), fd, peer, size, 0)));
}

int accept4(int fd, sockaddr* peer, socklen_t* size, int flags) {
  if (!caught(symbol::accept4_)) return bare().accept4(fd, peer, size, flags);
  return static_cast<int>(give(accept_one(VOLE_CALLER(accept4), fd, peer, size, flags)));
}

int connect(int fd, const sockaddr* to, socklen_t size) {
  if (!caught(symbol::connect_)) return bare().connect(fd, to, size);
  return static_cast<int>(give(connect_to(VOLE_CALLER(connect), fd, to, size)));
}

}  // extern "C"
