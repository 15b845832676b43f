// What several scenarios do with sockets and pipes.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace conformance {

struct ends {
  ~ends() {
    shut(0);
    shut(1);
  }
  void shut(int i) {
    if (fd[i] >= 0) close(fd[i]);
    fd[i] = -1;
  }
  int fd[2];
};
struct pair : ends {
  explicit pair(int type = SOCK_STREAM) { (void)!socketpair(AF_UNIX, type, 0, fd); }
};
struct pipe_pair : ends {
  pipe_pair() { (void)!pipe(fd); }
};

inline void set_timeout(int fd, int option, int ms) {
  const timeval t{ms / 1000, ms % 1000 * 1000};
  (void)!setsockopt(fd, SOL_SOCKET, option, &t, sizeof(t));
}
inline void set_nonblocking(int fd) { (void)!fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }
inline bool nonblocking(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }

}  // namespace conformance
