#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "conformance.h"
#include "sockets.h"

using namespace conformance;

// Reads that follow a question: hooks take them for ones that will have to wait.
SCENARIO(asked_and_answered) {
  pair p;
  char to[8] = {};
  (void)!write(p.fd[1], "ab", 2);
  show("read", read(p.fd[0], to, 8));
  show("ask", write(p.fd[0], "?", 1));
  (void)!write(p.fd[1], "cd", 2);
  show("the answer is there", read(p.fd[0], to, 8));
  show("ask by send", send(p.fd[0], "?", 1, 0));
  {
    const beside other([&] {
      pause_ms(20);
      (void)!write(p.fd[1], "e", 1);
    });
    show("it comes", recv(p.fd[0], to, 8, 0));
  }
  show("ask", write(p.fd[0], "?", 1));
  set_timeout(p.fd[0], SO_RCVTIMEO, 30);
  const stopwatch w;
  show("it does not come", read(p.fd[0], to, 8));
  w.show_waited("time", 29);
  show("ask", write(p.fd[0], "?", 1));
  set_nonblocking(p.fd[0]);
  show("not now", read(p.fd[0], to, 8));
  show("nor by recv", recv(p.fd[0], to, 8, 0));
  (void)!write(p.fd[1], "fg", 2);
  show("now", read(p.fd[0], to, 8));
  show("ask", write(p.fd[0], "?", 1));
  p.shut(1);
  show("the end is no answer", read(p.fd[0], to, 8));
  show("nor is it later", read(p.fd[0], to, 8));
}

SCENARIO(asked_of_what_the_number_means_next) {
  pair p;
  char to[8] = {};
  (void)!write(p.fd[1], "ab", 2);
  show("read", read(p.fd[0], to, 8));
  show("ask", write(p.fd[0], "?", 1));
  const int null = open("/dev/null", O_RDONLY);
  show("another file", dup2(null, p.fd[0]) == p.fd[0]);
  show("read", read(p.fd[0], to, 8));
  close(null);
}

SCENARIO(messages_that_wait_for_one) {
  pair p(SOCK_DGRAM);
  char a[4], b[4];
  iovec one{a, 4}, two{b, 4};
  mmsghdr in[2] = {};
  in[0].msg_hdr.msg_iov = &one;
  in[0].msg_hdr.msg_iovlen = 1;
  in[1].msg_hdr.msg_iov = &two;
  in[1].msg_hdr.msg_iovlen = 1;
  {
    const beside sender([&] {
      pause_ms(20);
      show("send", send(p.fd[1], "xx", 2, 0));
    });
    show("recvmmsg", recvmmsg(p.fd[0], in, 2, MSG_WAITFORONE, nullptr));
  }
  show("first", in[0].msg_len);
  show("none now", recvmmsg(p.fd[0], in, 2, MSG_DONTWAIT, nullptr));
  timespec soon{0, 1'000'000};
  show("send", send(p.fd[1], "yyy", 3, 0));
  show("with a time", recvmmsg(p.fd[0], in, 1, 0, &soon));
  show("none wanted", recvmmsg(p.fd[0], in, 0, 0, nullptr));
  show("sendmmsg of none", sendmmsg(p.fd[0], in, 0, 0));
}

SCENARIO(recvmsg_of_parts) {
  pair p;
  char a[3] = {}, b[4] = {};
  iovec parts[] = {{a, 2}, {b, 3}};
  msghdr m{};
  m.msg_iov = parts;
  m.msg_iovlen = 2;
  const beside sender([&] {
    for (const char* part : {"ab", "cd", "e"}) {
      pause_ms(5);
      show("send", send(p.fd[1], part, std::strlen(part), 0));
    }
  });
  show("recvmsg MSG_WAITALL", recvmsg(p.fd[0], &m, MSG_WAITALL));
  show("first", std::string(a));
  show("second", std::string(b));
  show("flags", m.msg_flags);
}

SCENARIO(a_listener_of_unix) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "vole-conformance-%d", getpid());
  const auto* const where = reinterpret_cast<const sockaddr*>(&at);
  const int l = socket(AF_UNIX, SOCK_STREAM, 0);
  show("bind", bind(l, where, sizeof(at)));
  show("listen", listen(l, 0));
  int clients[2] = {socket(AF_UNIX, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_STREAM, 0)};
  const beside acceptor([&] {
    pause_ms(30);
    for (int i = 0; i < 2; ++i) {
      const int c = accept(l, nullptr, nullptr);
      show("accepted", c >= 0);
      close(c);
    }
  });
  show("connect", connect(clients[0], where, sizeof(at)));
  show("connect, which waits for room", connect(clients[1], where, sizeof(at)));
  char to[4];
  for (const int c : clients) {
    show("read", read(c, to, 4));
    close(c);
  }
}
