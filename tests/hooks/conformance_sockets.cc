#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <vector>

#include "conformance.h"
#include "sockets.h"

using namespace conformance;

namespace {

int listen_on(sockaddr_in* at, int type = SOCK_STREAM) {
  const int fd = socket(AF_INET, type, 0);
  *at = {};
  at->sin_family = AF_INET;
  at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(*at);
  (void)!bind(fd, reinterpret_cast<sockaddr*>(at), size);
  if (type == SOCK_STREAM) (void)!listen(fd, 8);
  (void)!getsockname(fd, reinterpret_cast<sockaddr*>(at), &size);
  return fd;
}
const sockaddr* any(const sockaddr_in& at) { return reinterpret_cast<const sockaddr*>(&at); }

std::string pattern(std::size_t n) {
  std::string s(n, 0);
  for (std::size_t i = 0; i < n; ++i) s[i] = static_cast<char>('a' + i * 7 % 26);
  return s;
}

}  // namespace

SCENARIO(socket_read_waits) {
  pair p;
  const stopwatch w;
  const beside writer([&] {
    pause_ms(30);
    show("write", write(p.fd[1], "abc", 3));
  });
  char to[10] = {};
  errno = 77;
  const ssize_t n = read(p.fd[0], to, sizeof(to));
  show("errno is left alone", errno);
  show("read", n);
  show("text", std::string(to));
  w.show_waited("time", 30);
  show("read of nothing", read(p.fd[0], to, 0));
}

SCENARIO(socket_readv_and_writev) {
  pair p;
  char a[2] = {}, b[4] = {};
  iovec in[] = {{a, 2}, {b, 3}};
  iovec out[] = {{const_cast<char*>("xy"), 2}, {const_cast<char*>("z"), 1}};
  const beside writer([&] {
    pause_ms(10);
    show("writev", writev(p.fd[1], out, 2));
  });
  show("readv", readv(p.fd[0], in, 2));
  show("first", std::string(a, 2));
  show("second", std::string(b));
  show("readv of no parts", readv(p.fd[0], in, 0));
  volatile int minus_one = -1;  // or the compiler complains
  show("readv of -1 parts", readv(p.fd[0], in, minus_one));
  show("writev of no parts", writev(p.fd[0], in, 0));
}

SCENARIO(recv_flags) {
  pair p;
  char to[8] = {};
  show("recv MSG_DONTWAIT", recv(p.fd[0], to, 8, MSG_DONTWAIT));
  const beside writer([&] {
    for (const char* part : {"ab", "cd", "ef"}) {
      pause_ms(10);
      show("send", send(p.fd[1], part, 2, 0));
    }
  });
  show("recv MSG_PEEK", recv(p.fd[0], to, 1, MSG_PEEK));
  show("recv MSG_WAITALL", recv(p.fd[0], to, 6, MSG_WAITALL));
  show("text", std::string(to));
}

SCENARIO(recv_waitall_ends_with_the_peer) {
  pair p;
  char to[8] = {};
  const beside writer([&] {
    (void)!send(p.fd[1], "abc", 3, 0);
    pause_ms(20);
    p.shut(1);
  });
  show("recv MSG_WAITALL", recv(p.fd[0], to, 8, MSG_WAITALL));
  show("recv at the end", recv(p.fd[0], to, 8, 0));
}

SCENARIO(half_closed) {
  pair p;
  char to[8] = {};
  const beside other([&] {
    pause_ms(20);
    shutdown(p.fd[1], SHUT_WR);
    show("the other still reads", read(p.fd[1], to, 2));
  });
  char mine[8];
  show("read at the end", read(p.fd[0], mine, 8));
  show("read again", read(p.fd[0], mine, 8));
  show("write", write(p.fd[0], "ok", 2));
}

SCENARIO(peer_is_gone) {
  pair p;
  p.shut(1);
  char to[4];
  show("read", read(p.fd[0], to, 4));
  show("write", write(p.fd[0], "x", 1));
  show("send", send(p.fd[0], "x", 1, MSG_NOSIGNAL));
}

SCENARIO(peer_goes_while_we_send) {
  pair p;
  const std::string much = pattern(4 << 20);
  const beside reader([&] {
    pause_ms(20);
    char to[1000];
    (void)!read(p.fd[1], to, sizeof(to));
    p.shut(1);
  });
  const ssize_t n = send(p.fd[0], much.data(), much.size(), 0);
  show("a part was sent", n > 0 && n < static_cast<ssize_t>(much.size()));
  show("then", send(p.fd[0], "x", 1, 0));
}

SCENARIO(shut_down_while_we_read) {
  pair p;
  const beside other([&] {
    pause_ms(20);
    shutdown(p.fd[0], SHUT_RD);
  });
  char to[4];
  show("read", read(p.fd[0], to, 4));
}

SCENARIO(large_sends_are_whole) {
  const std::string much = pattern(3 << 20);
  for (int how = 0; how < 3; ++how) {
    pair p;
    std::string got;
    {
      const beside reader([&] {
        std::vector<char> to(50'000);
        for (ssize_t n = 0; (n = read(p.fd[1], to.data(), to.size())) > 0;)
          got.append(to.data(), static_cast<std::size_t>(n));
      });
      char* const at = const_cast<char*>(much.data());
      iovec parts[3] = {{at, 1 << 20}, {at + (1 << 20), 5}, {at + (1 << 20) + 5, (2 << 20) - 5}};
      msghdr m{};
      m.msg_iov = parts;
      m.msg_iovlen = 3;
      if (how == 0) show("write", write(p.fd[0], much.data(), much.size()));
      if (how == 1) show("writev", writev(p.fd[0], parts, 3));
      if (how == 2) show("sendmsg", sendmsg(p.fd[0], &m, 0));
      p.shut(0);
    }
    show("the same arrived", got == much);
  }
}

SCENARIO(socket_timeouts) {
  pair p;
  char to[8];
  set_timeout(p.fd[0], SO_RCVTIMEO, 40);
  const stopwatch w;
  show("read", read(p.fd[0], to, 8));
  w.show_waited("time", 39);
  set_timeout(p.fd[0], SO_SNDTIMEO, 40);
  const std::string much = pattern(8 << 20);
  const ssize_t n = send(p.fd[0], much.data(), much.size(), 0);
  show("a part was sent", n > 0 && n < static_cast<ssize_t>(much.size()));
  show("nothing more", send(p.fd[0], much.data(), much.size(), 0));
  sockaddr_in at;
  const int l = listen_on(&at);
  set_timeout(l, SO_RCVTIMEO, 30);
  const stopwatch w2;
  show("accept", accept(l, nullptr, nullptr));
  w2.show_waited("time", 29);
  close(l);
}

SCENARIO(nonblocking_sockets) {
  pair p;
  char to[8];
  set_nonblocking(p.fd[0]);
  show("read", read(p.fd[0], to, 8));
  show("recv", recv(p.fd[0], to, 8, 0));
  show("recvfrom", recvfrom(p.fd[0], to, 8, 0, nullptr, nullptr));
  show("recv MSG_WAITALL", recv(p.fd[0], to, 8, MSG_WAITALL));
  const std::string much = pattern(8 << 20);
  const ssize_t n = write(p.fd[0], much.data(), much.size());
  show("a part was written", n > 0 && n < static_cast<ssize_t>(much.size()));
  show("still non-blocking", nonblocking(p.fd[0]));
  show("the other is not", nonblocking(p.fd[1]));
}

SCENARIO(datagrams) {
  sockaddr_in at, from{};
  const int fd = listen_on(&at, SOCK_DGRAM);
  const int out = socket(AF_INET, SOCK_DGRAM, 0);
  {
    const beside sender([&] {
      pause_ms(20);
      show("sendto", sendto(out, "hello", 5, 0, any(at), sizeof(at)));
      show("sendto of nothing", sendto(out, "", 0, 0, any(at), sizeof(at)));
      show("connect", connect(out, any(at), sizeof(at)));
      show("write", write(out, "123456", 6));
      show("too large", send(out, pattern(70'000).data(), 70'000, 0));
    });
    char to[4];
    socklen_t size = sizeof(from);
    show("recvfrom MSG_TRUNC",
         recvfrom(fd, to, 4, MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &size));
    show("its size", size);
    show("recv of nothing", recv(fd, to, 4, 0));
    show("read cuts it off", read(fd, to, 4));
    set_timeout(fd, SO_RCVTIMEO, 20);
    show("no more", recvfrom(fd, to, 4, 0, nullptr, nullptr));
  }
  close(fd);
  close(out);
}

SCENARIO(messages) {
  pair p(SOCK_DGRAM);
  char a[4], b[4];
  iovec one{a, 4}, two{b, 4};
  mmsghdr in[2] = {};
  in[0].msg_hdr.msg_iov = &one;
  in[0].msg_hdr.msg_iovlen = 1;
  in[1].msg_hdr.msg_iov = &two;
  in[1].msg_hdr.msg_iovlen = 1;
  const beside sender([&] {
    iovec x{const_cast<char*>("xx"), 2}, y{const_cast<char*>("yyy"), 3};
    mmsghdr out[2] = {};
    out[0].msg_hdr.msg_iov = &x;
    out[0].msg_hdr.msg_iovlen = 1;
    out[1].msg_hdr.msg_iov = &y;
    out[1].msg_hdr.msg_iovlen = 1;
    pause_ms(20);
    show("sendmmsg", sendmmsg(p.fd[1], out, 2, 0));
  });
  show("recvmmsg", recvmmsg(p.fd[0], in, 2, 0, nullptr));
  show("first", in[0].msg_len);
  show("second", in[1].msg_len);
}

SCENARIO(passed_descriptors) {
  pair p;
  int pipe_ends[2];
  (void)!pipe(pipe_ends);
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr m{};
  m.msg_iov = &part;
  m.msg_iovlen = 1;
  m.msg_control = room;
  m.msg_controllen = sizeof(room);
  {
    const beside sender([&] {
      alignas(cmsghdr) char mine[CMSG_SPACE(sizeof(int))] = {};
      char mine_too = 'x';
      iovec part_of_mine{&mine_too, 1};
      msghdr out{};
      out.msg_iov = &part_of_mine;
      out.msg_iovlen = 1;
      out.msg_control = mine;
      out.msg_controllen = sizeof(mine);
      cmsghdr* const c = CMSG_FIRSTHDR(&out);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &pipe_ends[0], sizeof(int));
      pause_ms(10);
      show("sendmsg", sendmsg(p.fd[1], &out, 0));
    });
    show("recvmsg", recvmsg(p.fd[0], &m, 0));
  }
  int got = -1;
  std::memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
  {
    const beside writer([&] {
      pause_ms(10);
      (void)!write(pipe_ends[1], "through", 7);
    });
    char to[10] = {};
    show("read of the passed one", read(got, to, 10));
  }
  for (const int fd : {got, pipe_ends[0], pipe_ends[1]}) close(fd);
}

SCENARIO(connect_and_accept) {
  sockaddr_in at, peer{};
  const int l = listen_on(&at);
  const int c = socket(AF_INET, SOCK_STREAM, 0);
  {
    const beside other([&] {
      pause_ms(20);
      show("connect", connect(c, any(at), sizeof(at)));
      show("again", connect(c, any(at), sizeof(at)));
    });
    socklen_t size = sizeof(peer);
    const int s = accept(l, reinterpret_cast<sockaddr*>(&peer), &size);
    show("accepted", s >= 0);
    show("its size", size);
    show("blocking", nonblocking(s));
    close(s);
  }
  show("connect leaves the flag", nonblocking(c));
  const beside other([&] {
    const int again = socket(AF_INET, SOCK_STREAM, 0);
    (void)!connect(again, any(at), sizeof(at));
    close(again);
  });
  const int s = accept4(l, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  show("accept4 sets flags", nonblocking(s) && fcntl(s, F_GETFD) == FD_CLOEXEC);
  close(s);
  set_nonblocking(l);
  show("nobody is there", accept(l, nullptr, nullptr));
  close(l);
  close(c);
}

SCENARIO(connect_is_refused) {
  sockaddr_in at;
  close(listen_on(&at));
  const int c = socket(AF_INET, SOCK_STREAM, 0);
  show("connect", connect(c, any(at), sizeof(at)));
  show("and again", connect(c, any(at), sizeof(at)));
  show("flag", nonblocking(c));
  int error = -1;
  socklen_t size = sizeof(error);
  (void)!getsockopt(c, SOL_SOCKET, SO_ERROR, &error, &size);
  show("no error is left", error);
  set_nonblocking(c);
  show("non-blocking", connect(c, any(at), sizeof(at)));
  show("wrong size", connect(c, any(at), 3));
  show("no address", connect(c, nullptr, 16));
  close(c);
  sockaddr_un nowhere{};
  nowhere.sun_family = AF_UNIX;
  std::strcpy(nowhere.sun_path, "/nowhere/at/all");
  const int u = socket(AF_UNIX, SOCK_STREAM, 0);
  show("unix", connect(u, reinterpret_cast<sockaddr*>(&nowhere), sizeof(nowhere)));
  close(u);
}

SCENARIO(what_is_not_a_socket_or_not_there) {
  int pipe_ends[2];
  (void)!pipe(pipe_ends);
  char to[4];
  for (const int fd : {pipe_ends[0], -1, 987}) {
    show("recv", recv(fd, to, 4, 0));
    show("send", send(fd, to, 4, 0));
    show("accept", accept(fd, nullptr, nullptr));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    show("connect", connect(fd, any(at), sizeof(at)));
  }
  show("read", read(987, to, 4));
  show("write", write(987, to, 4));
  show("write to the reading end", write(pipe_ends[0], to, 1));
  show("read from the writing end", read(pipe_ends[1], to, 1));
  const int c = socket(AF_INET, SOCK_STREAM, 0);
  show("accept without listen", accept(c, nullptr, nullptr));
  show("read without connect", read(c, to, 1));
  show("bad pointer", recv(c, reinterpret_cast<void*>(8), 4, MSG_DONTWAIT));
  for (const int fd : {c, pipe_ends[0], pipe_ends[1]}) close(fd);
}
