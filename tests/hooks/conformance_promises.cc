// What hooks promise beside the answer: no wait where there is nothing to do, errno, the thread's signal
// mask, who must not park, and an end for those whose descriptor is closed.

#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <list>

#include "conformance.h"
#include "sockets.h"

using namespace conformance;

namespace {

void fill(int fd) {
  const std::string much(1 << 20, 'x');
  while (send(fd, much.data(), much.size(), MSG_DONTWAIT) > 0) {
  }
}
void fill_pipe(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  char c[4096] = {};
  while (write(fd, c, sizeof(c)) > 0) {
  }
  fcntl(fd, F_SETFL, flags);
}

}  // namespace

// Each of these would wait for ever if it asked for more than nothing.
SCENARIO(nothing_to_move) {
  char name[] = "/tmp/vole-conformance-XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  (void)!write(file, "abc", 3);
  pair full;
  fill(full.fd[0]);
  pipe_pair empty, brim;
  fill_pipe(brim.fd[1]);
  off_t at = 0, end = 3, beyond = 1000;
  show("sendfile of none", sendfile(full.fd[0], file, &at, 0));
  show("sendfile of none, from nothing", sendfile(full.fd[0], 987, &at, 0));
  show("sendfile at the end", sendfile(full.fd[0], file, &end, 100));
  show("sendfile from beyond", sendfile(full.fd[0], file, &beyond, 100));
  show("sendfile from its position", sendfile(full.fd[0], file, nullptr, 100));
  show("sendfile from nothing", sendfile(full.fd[0], 987, nullptr, 100));
  show("sendfile from no place", sendfile(full.fd[0], file, reinterpret_cast<off_t*>(8), 100));
  show("splice of none", splice(empty.fd[0], nullptr, brim.fd[1], nullptr, 0, 0));
  char c;
  show("send of none", send(full.fd[0], &c, 0, 0));
  show("write of none", write(full.fd[0], &c, 0));
  show("write of none to a pipe", write(brim.fd[1], &c, 0));
  show("writev of none", writev(brim.fd[1], nullptr, 0));
  iovec parts[2] = {{&c, 0}, {&c, 0}};
  show("writev of empty parts", writev(brim.fd[1], parts, 2));
  show("read of none", read(empty.fd[0], &c, 0));
  show("readv of none", readv(empty.fd[0], nullptr, 0));
  show("readv of empty parts", readv(empty.fd[0], parts, 2));
  msghdr m{};
  show("sendmsg of none", sendmsg(full.fd[0], &m, 0));
  m.msg_iov = parts;
  m.msg_iovlen = 2;
  show("sendmsg of empty parts", sendmsg(full.fd[0], &m, 0));
  close(file);
}

// A message without bytes is a message.
SCENARIO(messages_without_bytes) {
  pair p(SOCK_DGRAM);
  char to[4];
  show("send of none", send(p.fd[0], to, 0, 0));
  show("write of none", write(p.fd[0], to, 0));
  show("recv", recv(p.fd[1], to, 4, 0));
  show("read", read(p.fd[1], to, 4));
  while (send(p.fd[0], to, 0, MSG_DONTWAIT) == 0) {
  }
  const beside reader([&] {
    pause_ms(20);
    while (recv(p.fd[1], to, 4, MSG_DONTWAIT) == 0) {
    }
  });
  show("send of none, which waits for room", send(p.fd[0], to, 0, 0));
}

SCENARIO(errno_beside_others) {
  pipe_pair there, back;
  constexpr int kRounds = 100;
  const beside other([&] {
    char c;
    for (int i = 0; i < kRounds; ++i) {
      (void)!read(there.fd[0], &c, 1);
      show("an error of its own", close(-1));
      (void)!write(back.fd[1], &c, 1);
    }
  });
  int others = 0;
  for (int i = 0; i < kRounds; ++i) {
    char c = 'x';
    (void)!write(there.fd[1], &c, 1);
    errno = 77;
    (void)!read(back.fd[0], &c, 1);
    others += error_here() != 77 ? 1 : 0;
  }
  show("errors of others seen", others);
}

// Calls that need not wait give way to others, once this goroutine has had its slice:
//
//     this goroutine                     another, on the same thread
//     errno = 77; writes, for long
//     asked to give way
//                                        close(-1): errno = EBADF
//     goes on, and all succeeds: errno is 77
SCENARIO(errno_after_a_slice) {
  std::atomic<bool> over{false};
  int others_seen = 0;
  const int null = open("/dev/null", O_WRONLY);
  {
    std::list<beside> others;
    for (int i = 0; i < 3; ++i)
      others.emplace_back([&] {
        while (!over) {
          (void)!close(-1);
          (void)!write(null, "x", 1);
        }
      });
    for (int i = 0; i < 3; ++i) {
      errno = 77;
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
      while (std::chrono::steady_clock::now() < until) (void)!write(null, "x", 1);
      others_seen += error_here() != 77 ? 1 : 0;
    }
    over = true;
  }
  show("errors of others seen", others_seen);
  close(null);
}

namespace {

int handlers_pipe[2];

extern "C" void on_usr2(int) {
  const int error = errno;
  pollfd f{handlers_pipe[0], POLLIN, 0};
  poll(&f, 1, 30);
  errno = error;
}

bool usr2_is_blocked() {
  sigset_t now;
  sigemptyset(&now);
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, SIGUSR2) == 1;
}

}  // namespace

// Until its handler returns, the thread has the handler's mask:
//
//     this goroutine                              others
//     has had its slice, and is asked to give way
//     its handler (SIGUSR2 is blocked): poll
//     gave way there                              ran on this thread with SIGUSR2 blocked, and moved:
//                                                 it never came back from some threads
SCENARIO(a_handler_that_waits) {
  (void)!pipe(handlers_pipe);
  struct sigaction how {};
  how.sa_handler = on_usr2;
  how.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &how, nullptr);
  std::atomic<int> blocked{0};
  std::atomic<bool> over{false};
  {
    std::list<beside> others;
    for (int i = 0; i < 8; ++i)
      others.emplace_back([&] {
        while (!over) {
          blocked += usr2_is_blocked() ? 1 : 0;
          pause_ms(1);
        }
      });
    for (int ms = 10; ms < 30; ms += 2) {  // asked, but not evicted yet
      pause_ms(1);
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
      while (std::chrono::steady_clock::now() < until) {
      }
      raise(SIGUSR2);
    }
    over = true;
  }
  show("others with its mask", blocked.load());
  signal(SIGUSR2, SIG_DFL);
  for (const int fd : handlers_pipe) close(fd);
}

extern "C" int vole_conformance_wait_ms(int fd, int ms);

SCENARIO(a_caller_that_must_not_park) {
  pipe_pair p;
#ifdef VOLE_CONFORMANCE_HOOKED
  const unsigned long long before = vole::stats().hooked_waits;
#endif
  show("times out", vole_conformance_wait_ms(p.fd[0], 10));
#ifdef VOLE_CONFORMANCE_HOOKED
  show("parked", vole::stats().hooked_waits - before);
#else
  put("parked: 0");
#endif
}

// The bare call waits on: what hooks promise stands here for it.
SCENARIO(closed_under_who_waits) {
#ifdef VOLE_CONFORMANCE_HOOKED
  const int null = open("/dev/null", O_RDONLY);
  const auto read_and_be_closed = [&](auto how, bool is_another_then = false) {
    pipe_pair p;
    const unsigned long long before = vole::stats().hooked_waits;
    const beside closer([&] {
      while (vole::stats().hooked_waits == before) vole::yield();
      how(p.fd[0]);
    });
    char c;
    show("read", read(p.fd[0], &c, 1));
    if (!is_another_then) p.fd[0] = -1;  // the number may be somebody else's by now
  };
#if defined(VOLE_SANITIZE_THREAD)  // which reports a close that nothing orders, rightly
  put("read: -1 EBADF");
#else
  read_and_be_closed([](int fd) { close(fd); });
#endif
  read_and_be_closed([&](int fd) { dup2(null, fd); }, true);
  read_and_be_closed([&](int fd) { dup3(null, fd, 0); }, true);
  read_and_be_closed(
      [](int fd) { close_range(static_cast<unsigned>(fd), static_cast<unsigned>(fd), 0); });
  close(null);
#else
  for (int i = 0; i < 4; ++i) put("read: -1 EBADF");
#endif
}
