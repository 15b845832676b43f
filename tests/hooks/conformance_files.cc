#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <termios.h>

#include <cstdlib>
#include <vector>

#include "conformance.h"
#include "sockets.h"

using namespace conformance;

namespace {

struct temporary {
  temporary() : fd(mkstemp(name)) {}
  ~temporary() {
    close(fd);
    unlink(name);
  }
  char name[32] = "/tmp/vole-conformance-XXXXXX";
  const int fd;
};

}  // namespace

SCENARIO(pipe_waits_and_ends) {
  pipe_pair p;
  const beside writer([&] {
    pause_ms(20);
    show("write", write(p.fd[1], "abc", 3));
    pause_ms(20);
    p.shut(1);
  });
  char to[10] = {};
  errno = 77;
  const ssize_t n = read(p.fd[0], to, 10);
  const int left = error_here();
  show("read", n);
  show("errno is left alone", left);
  show("read at the end", read(p.fd[0], to, 10));
}

SCENARIO(pipe_takes_all) {
  pipe_pair p;
  const std::string much(1 << 20, 'x');
  std::size_t got = 0;
  {
    const beside reader([&] {
      std::vector<char> to(3000);
      for (ssize_t n = 0; (n = read(p.fd[0], to.data(), to.size())) > 0;)
        got += static_cast<std::size_t>(n);
    });
    show("write", write(p.fd[1], much.data(), much.size()));
    iovec parts[40];
    for (iovec& v : parts) v = {const_cast<char*>(much.data()), 10'000};
    show("writev of 40 parts", writev(p.fd[1], parts, 40));
    p.shut(1);
  }
  show("arrived", got);
}

SCENARIO(pipe_without_reader) {
  pipe_pair p;
  const std::string much(1 << 20, 'x');
  const beside reader([&] {
    pollfd begun{p.fd[0], POLLIN, 0};
    poll(&begun, 1, -1);
    pause_ms(20);
    p.shut(0);
  });
  const ssize_t n = write(p.fd[1], much.data(), much.size());
  show("a part was written", n > 0 && n < static_cast<ssize_t>(much.size()));
  show("then", write(p.fd[1], "x", 1));
}

SCENARIO(nonblocking_pipe) {
  pipe_pair p;
  set_nonblocking(p.fd[0]);
  set_nonblocking(p.fd[1]);
  char to[4];
  show("read", read(p.fd[0], to, 4));
  const std::string much(1 << 20, 'x');
  show("write", write(p.fd[1], much.data(), much.size()));
  show("write again", write(p.fd[1], much.data(), much.size()));
  show("a byte", write(p.fd[1], "x", 1));
}

SCENARIO(named_pipe) {
  char name[] = "/tmp/vole-conformance-fifo-XXXXXX";
  close(mkstemp(name));
  unlink(name);
  show("mkfifo", mkfifo(name, 0600));
  const int fd = open(name, O_RDWR);
  const beside writer([&] {
    pause_ms(20);
    show("write", write(fd, "abc", 3));
  });
  char to[10];
  show("read", read(fd, to, 10));
  unlink(name);
}

SCENARIO(terminal) {
  int master = -1, slave = -1;
  show("openpty", openpty(&master, &slave, nullptr, nullptr, nullptr));
  {
    const beside typist([&] {
      pause_ms(20);
      show("type", write(master, "li", 2));
      pause_ms(20);
      show("type more", write(master, "ne\n", 3));
    });
    char to[20] = {};
    show("a line", read(slave, to, 20));
    show("text", std::string(to));
  }
  set_nonblocking(slave);
  char to[20];
  show("non-blocking", read(slave, to, 20));
  termios t{};
  tcgetattr(slave, &t);
  cfmakeraw(&t);
  t.c_cc[VMIN] = 0;
  t.c_cc[VTIME] = 1;
  tcsetattr(slave, TCSANOW, &t);
  (void)!fcntl(slave, F_SETFL, 0);
  show("VTIME is over", read(slave, to, 20));
  long echoed = 0;  // in one piece, or in several
  for (long n = 1; echoed < 6 && n > 0; echoed += n) n = read(master, to, 20);
  show("echo", echoed);
  close(slave);
  show("nobody holds the other end", read(master, to, 20));
  close(master);
}

SCENARIO(counters_and_timers) {
  const int fd = eventfd(0, 0);
  const beside other([&] {
    pause_ms(20);
    const unsigned long three = 3;
    show("add", write(fd, &three, 8));
  });
  unsigned long value = 0;
  show("read", read(fd, &value, 8));
  show("value", value);
  show("too short", read(fd, &value, 4));
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  itimerspec t{};
  t.it_value.tv_nsec = 30'000'000;
  timerfd_settime(timer, 0, &t, nullptr);
  const stopwatch w;
  show("timer", read(timer, &value, 8));
  w.show_waited("time", 29);
  close(fd);
  close(timer);
}

SCENARIO(files_on_disk) {
  temporary t;
  const std::string much(100'000, 'q');
  show("write", write(t.fd, much.data(), much.size()));
  std::vector<char> to(200'000);
  show("at the end", read(t.fd, to.data(), to.size()));
  lseek(t.fd, 10, SEEK_SET);
  (void)!posix_fadvise(t.fd, 0, 0, POSIX_FADV_DONTNEED);
  show("all there is", read(t.fd, to.data(), to.size()));
  show("position", lseek(t.fd, 0, SEEK_CUR));
  lseek(t.fd, 0, SEEK_SET);
  iovec parts[2] = {{to.data(), 3}, {to.data() + 3, 4}};
  show("readv", readv(t.fd, parts, 2));
  show("position", lseek(t.fd, 0, SEEK_CUR));
  const int append = open(t.name, O_WRONLY | O_APPEND);
  show("append", write(append, "end", 3));
  show("size", lseek(append, 0, SEEK_END));
  close(append);
  const int read_only = open(t.name, O_RDONLY | O_NONBLOCK);
  show("O_NONBLOCK does nothing", read(read_only, to.data(), 5));
  show("write to it", write(read_only, "x", 1));
  close(read_only);
  const int folder = open("/tmp", O_RDONLY);
  show("folder", read(folder, to.data(), 5));
  close(folder);
  const int null = open("/dev/null", O_RDWR);
  show("null, read", read(null, to.data(), 5));
  show("null, write", write(null, "abc", 3));
  close(null);
  const int full = open("/dev/full", O_RDWR);
  show("full", write(full, "abc", 3));
  close(full);
}

SCENARIO(a_number_has_another_file_next) {
  int s[2];
  (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, s);
  char to[8];
  (void)!write(s[1], "ab", 2);
  show("socket", read(s[0], to, 8));
  pipe_pair p;
  dup2(p.fd[0], s[0]);
  (void)!write(p.fd[1], "abc", 3);
  show("pipe", read(s[0], to, 8));
  temporary t;
  (void)!write(t.fd, "file", 4);
  lseek(t.fd, 0, SEEK_SET);
  dup2(t.fd, s[0]);
  show("file", read(s[0], to, 8));
  int again[2];
  (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, again);
  dup3(again[0], s[0], O_CLOEXEC);
  const beside writer([&] {
    pause_ms(10);
    (void)!write(again[1], "hello", 5);
  });
  show("socket again", read(s[0], to, 8));
  for (const int fd : {s[0], s[1], again[0], again[1]}) close(fd);
}

SCENARIO(closing) {
  show("close of nothing", close(987));
  show("close of -1", close(-1));
  pipe_pair p;
  show("dup2 of nothing", dup2(987, p.fd[0]));
  show("dup2 to itself", dup2(p.fd[0], p.fd[0]) == p.fd[0]);
  show("dup3 to itself", dup3(p.fd[0], p.fd[0], 0));
  show("close_range", close_range(900, 910, 0));
  show("close_range backwards", close_range(910, 900, 0));
}

SCENARIO(sendfile_and_splice) {
  temporary t;
  const std::string much(1 << 20, 'x');
  (void)!write(t.fd, much.data(), much.size());
  int s[2];
  (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, s);
  std::size_t got = 0;
  {
    const beside reader([&] {
      std::vector<char> to(3000);
      for (ssize_t n = 0; (n = read(s[1], to.data(), to.size())) > 0;)
        got += static_cast<std::size_t>(n);
    });
    off_t at = 0;
    while (at < static_cast<off_t>(much.size()))
      if (sendfile(s[0], t.fd, &at, much.size()) <= 0) break;
    show("offset", at);
    close(s[0]);
  }
  show("arrived", got);
  close(s[1]);
  pipe_pair from, to;
  const beside writer([&] {
    pause_ms(20);
    (void)!write(from.fd[1], "spliced", 7);
  });
  show("splice waits", splice(from.fd[0], nullptr, to.fd[1], nullptr, 100, 0));
  show("and not", splice(from.fd[0], nullptr, to.fd[1], nullptr, 100, SPLICE_F_NONBLOCK));
  show("between files", splice(t.fd, nullptr, t.fd, nullptr, 100, 0));
  show("sendfile from nothing", sendfile(to.fd[1], 987, nullptr, 1));
}

SCENARIO(sendfile_to_who_reads_late) {
  temporary t;
  const std::string much(2 << 20, 'x');
  (void)!write(t.fd, much.data(), much.size());
  int s[2];
  (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, s);
  {
    std::size_t got = 0;
    const beside reader([&] {
      pause_ms(20);
      std::vector<char> to(30'000);
      for (ssize_t n = 0; (n = read(s[1], to.data(), to.size())) > 0;)
        got += static_cast<std::size_t>(n);
      show("arrived", got);
    });
    off_t at = 100;
    show("all at once", sendfile(s[0], t.fd, &at, much.size() - 100));
    show("offset", at);
    show("at the end", sendfile(s[0], t.fd, &at, 1000));
    lseek(t.fd, 7, SEEK_SET);
    show("from its position", sendfile(s[0], t.fd, nullptr, 200'000));
    show("position", lseek(t.fd, 0, SEEK_CUR));
    close(s[0]);
  }
  close(s[1]);
  (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, s);
  timeval soon{0, 30'000};
  (void)!setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
  off_t at = 0;
  const ssize_t n = sendfile(s[0], t.fd, &at, much.size());
  show("a part", n > 0 && n < static_cast<ssize_t>(much.size()) && at == n);
  const ssize_t filled = send(s[0], much.data(), much.size(), 0);
  show("full", filled < static_cast<ssize_t>(much.size()));
  show("nothing more", sendfile(s[0], t.fd, &at, 100));
  set_nonblocking(s[0]);
  show("non-blocking", sendfile(s[0], t.fd, &at, 100));
  close(s[0]);
  close(s[1]);
}

extern "C" {
ssize_t __read_chk(int fd, void* to, std::size_t n, std::size_t room);
ssize_t __recv_chk(int fd, void* to, std::size_t n, std::size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void* to, std::size_t n, std::size_t room, int flags, sockaddr* peer,
                       socklen_t* size);
int __poll_chk(pollfd* fds, nfds_t n, int timeout, std::size_t room);
int __ppoll_chk(pollfd* fds, nfds_t n, const timespec* timeout, const sigset_t* mask,
                std::size_t room);
}

SCENARIO(fortified_twins) {
  int s[2];
  (void)!socketpair(AF_UNIX, SOCK_STREAM, 0, s);
  char to[8];
  const beside writer([&] {
    for (int i = 0; i < 3; ++i) {
      pause_ms(10);
      (void)!write(s[1], "ab", 2);
    }
  });
  show("read", __read_chk(s[0], to, 2, 8));
  show("recv", __recv_chk(s[0], to, 2, 8, 0));
  show("recvfrom", __recvfrom_chk(s[0], to, 2, 8, 0, nullptr, nullptr));
  pollfd f{s[0], POLLIN, 0};
  const timespec soon{0, 5'000'000};
  show("poll", __poll_chk(&f, 1, 5, sizeof(f)));
  show("ppoll", __ppoll_chk(&f, 1, &soon, nullptr, sizeof(f)));
  close(s[0]);
  close(s[1]);
}

SCENARIO(parts_of_pipes_and_files) {
  pipe_pair p;
  char a[4] = {}, b[4] = {};
  iovec parts[] = {{a, 3}, {b, 3}};
  {
    const beside writer([&] {
      pause_ms(10);
      show("writev", writev(p.fd[1], parts, 2));
    });
    char to[10];
    iovec in[] = {{to, 4}, {to + 4, 6}};
    show("readv", readv(p.fd[0], in, 2));
  }
  set_nonblocking(p.fd[0]);
  show("none now", readv(p.fd[0], parts, 2));
  temporary t;
  std::vector<iovec> many(40, iovec{a, 3});
  show("40 parts", writev(t.fd, many.data(), 40));
  lseek(t.fd, 0, SEEK_SET);
  show("back", readv(t.fd, many.data(), 40));
  show("at the end", readv(t.fd, many.data(), 40));
}

SCENARIO(locks) {
  temporary t;
  const int other = open(t.name, O_RDWR);
  show("lock", flock(t.fd, LOCK_EX));
  show("not now", flock(other, LOCK_EX | LOCK_NB));
  const stopwatch w;
  const beside holder([&] {
    pause_ms(30);
    flock(t.fd, LOCK_UN);
  });
  show("waits", flock(other, LOCK_EX));
  w.show_waited("time", 30);
  show("nothing", flock(987, LOCK_EX));
  show("unlock", flock(other, LOCK_UN));
  show("shared", flock(t.fd, LOCK_SH));
  show("by both", flock(other, LOCK_SH | LOCK_NB));
  show("not alone", flock(other, LOCK_EX | LOCK_NB));
  show("no such way", flock(other, 77));
  close(other);
}
