// What one goroutine tells another by a file, in hooked calls.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "races/cases.h"

using races::both;
using races::in_turn;
using races::step;

namespace {

struct ends {
  ends() = default;
  ~ends() {
    close(fd[0]);
    close(fd[1]);
  }
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
  int fd[2];
};
struct pipe_ends : ends {
  pipe_ends() { (void)!pipe(fd); }
};
struct socket_ends : ends {
  socket_ends() { (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, fd); }
};

// say() tells, hear() waits for it.
template <bool kRacy, class Say, class Hear>
void told(Say say, Hear hear) {
  step wrote;
  SHARED(x);
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        say();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        hear();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(hooked_pipe) {
  pipe_ends p;
  char c = 'x', to;
  told<kRacy>([&] { (void)!write(p.fd[1], &c, 1); }, [&] { (void)!read(p.fd[0], &to, 1); });
}

RACE(hooked_socket) {
  socket_ends s;
  char c = 'x', to;
  told<kRacy>([&] { send(s.fd[1], &c, 1, 0); }, [&] { recv(s.fd[0], &to, 1, 0); });
}

RACE(hooked_socket_by_messages) {
  socket_ends s;
  char c = 'x', to;
  iovec from{&c, 1}, into{&to, 1};
  msghdr out{}, in{};
  out.msg_iov = &from;
  in.msg_iov = &into;
  out.msg_iovlen = in.msg_iovlen = 1;
  told<kRacy>([&] { sendmsg(s.fd[1], &out, 0); }, [&] { recvmsg(s.fd[0], &in, 0); });
}

RACE(hooked_epoll) {
  pipe_ends p;
  const int set = epoll_create1(0);
  (void)!write(p.fd[1], "x", 1);
  told<kRacy>(
      [&] {
        epoll_event e{};
        e.events = EPOLLIN;
        epoll_ctl(set, EPOLL_CTL_ADD, p.fd[0], &e);
      },
      [&] {
        epoll_event found;
        while (epoll_wait(set, &found, 1, -1) != 1) {
        }
      });
  close(set);
}

// The buffer itself.
RACE(hooked_buffer) {
  socket_ends s;
  SHARED(x);
  send(s.fd[1], "four", 4, 0);
  const auto receive = [&] { recv(s.fd[0], &x, sizeof(x), 0); };
  if constexpr (kRacy) {
    in_turn(receive, [&] { ++x; });
  } else {
    vole::spawn(receive).join();
    ++x;
  }
}

// A number that others had before tells nothing of them.
RACE(hooked_number_again) {
  SHARED(x);
  const auto use_it = [] {
    socket_ends s;
    (void)!write(s.fd[1], "x", 1);
    char to;
    (void)!read(s.fd[0], &to, 1);
  };
  in_turn([&] { kRacy ? void(x = 1) : use_it(); }, [&] { kRacy ? void(x = 2) : use_it(); });
}

}  // namespace
