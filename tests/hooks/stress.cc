// Nothing is lost: many connections by hooked calls alone, with random sizes, deadlines, and closes
// from elsewhere. stress [connections [seed]]
//
// Each client sends blocks and gets each back as it was. Some wait first for what does not come (until
// SO_RCVTIMEO or poll's timeout), some have their descriptor closed by another goroutine while they
// read, which ends in EBADF. All of them end: a lost wake-up is a test that does not.

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include <vole/vole.h>

namespace {

constexpr int kAtOnce = 150;
constexpr std::size_t kMostBytes = 20'000;

std::atomic<long> echoed{0}, timed_out{0}, closed_under{0};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "stress: %s: %s\n", what, strerrorname_np(errno));
  std::_Exit(1);
}
long must(long r, const char* what) {
  if (r < 0) fail(what);
  return r;
}

using dice = std::minstd_rand;
std::size_t roll(dice& d, std::size_t most) { return 1 + d() % most; }

// As many bytes as were asked for, by one of the calls that read.
void read_whole(dice& d, int fd, char* to, std::size_t n) {
  while (n != 0) {
    const std::size_t part = d() % 3 == 0 ? roll(d, n) : n;
    iovec halves[2] = {{to, part / 2}, {to + part / 2, part - part / 2}};
    ssize_t got = 0;
    switch (d() % 3) {
      case 0: got = read(fd, to, part); break;
      case 1: got = recv(fd, to, part, d() % 2 == 0 ? MSG_WAITALL : 0); break;
      default: got = readv(fd, halves, 2); break;
    }
    if (must(got, "read") == 0) fail("the end comes too early");
    to += got;
    n -= static_cast<std::size_t>(got);
  }
}

void write_whole(dice& d, int fd, char* from, std::size_t n) {
  iovec halves[2] = {{from, n / 2}, {from + n / 2, n - n / 2}};
  ssize_t sent = 0;
  switch (d() % 3) {
    case 0: sent = write(fd, from, n); break;
    case 1: sent = send(fd, from, n, 0); break;
    default: sent = writev(fd, halves, 2); break;
  }
  if (must(sent, "write") != static_cast<ssize_t>(n)) fail("a blocking write wrote a part");
}

void echo(dice& d, int fd) {
  std::string out(roll(d, kMostBytes), 0), in(out.size(), 0);
  for (char& c : out) c = static_cast<char>(d());
  auto size = static_cast<std::uint32_t>(out.size());
  write_whole(d, fd, reinterpret_cast<char*>(&size), sizeof(size));
  write_whole(d, fd, out.data(), out.size());
  read_whole(d, fd, in.data(), in.size());
  if (in != out) fail("other bytes came back");
  ++echoed;
}

void wait_in_vain(dice& d, int fd) {
  const int ms = static_cast<int>(roll(d, 20));
  if (d() % 2 == 0) {
    pollfd p{fd, POLLIN, 0};
    if (must(poll(&p, 1, ms), "poll") != 0) fail("poll: nothing was sent");
  } else {
    timeval t{0, ms * 1000};
    must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)), "SO_RCVTIMEO");
    char c;
    if (read(fd, &c, 1) != -1 || errno != EAGAIN) fail("read: nothing was sent");
    t = {};
    must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)), "SO_RCVTIMEO");
  }
  ++timed_out;
}

// The number stays taken: what replaces the socket is at its end, so that a reader that comes late
// reads nothing of somebody else's.
void close_under(dice& d, int fd) {
  const int null = static_cast<int>(must(open("/dev/null", O_RDONLY), "open"));
  const auto pause = static_cast<useconds_t>(roll(d, 3000));
  auto closer = vole::spawn([=] {
    usleep(pause);
    must(dup2(null, fd), "dup2");
  });
  char c;
  const ssize_t n = read(fd, &c, 1);
  if (n > 0 || (n < 0 && errno != EBADF)) fail("read of what is closed");
  closer.join();
  close(null);
  ++closed_under;
}

void client(const sockaddr_in& at, unsigned seed) {
  dice d(seed);
  const int fd = static_cast<int>(must(socket(AF_INET, SOCK_STREAM, 0), "socket"));
  must(connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), "connect");
  for (std::size_t n = roll(d, 3); n != 0; --n) {
    if (d() % 4 == 0) wait_in_vain(d, fd);
    echo(d, fd);
  }
  if (d() % 4 == 0) close_under(d, fd);
  must(close(fd), "close");
}

void serve(int fd, unsigned seed) {
  dice d(seed);
  std::string block;
  for (;;) {
    std::uint32_t size = 0;
    const ssize_t n = recv(fd, &size, sizeof(size), MSG_WAITALL);
    if (n == 0 || (n < 0 && errno == ECONNRESET)) break;
    if (must(n, "recv") != sizeof(size)) fail("half a size");
    block.resize(size);
    read_whole(d, fd, block.data(), size);
    write_whole(d, fd, block.data(), size);
  }
  close(fd);
}

int run(int connections, unsigned seed) {
  const int l = static_cast<int>(must(socket(AF_INET, SOCK_STREAM, 0), "socket"));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  must(bind(l, reinterpret_cast<sockaddr*>(&at), size), "bind");
  must(listen(l, 1000), "listen");
  must(getsockname(l, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
  vole::wait_group servers, clients;
  servers.go([&] {
    for (int i = 0; i < connections; ++i) {
      const int fd = static_cast<int>(must(accept(l, nullptr, nullptr), "accept"));
      servers.go([=] { serve(fd, seed * 31 + static_cast<unsigned>(i)); });
    }
  });
  vole::semaphore at_once(kAtOnce);
  for (int i = 0; i < connections; ++i) {
    at_once.acquire();
    clients.go([&, i] {
      client(at, seed + static_cast<unsigned>(i));
      at_once.release();
    });
  }
  clients.wait();
  servers.wait();
  close(l);
  std::printf(
      "%d connections, seed %u: %ld blocks, %ld timeouts, %ld closed; %d threads, %llu waits\n",
      connections, seed, echoed.load(), timed_out.load(), closed_under.load(),
      vole::stats().threads, static_cast<unsigned long long>(vole::stats().hooked_waits));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int connections = argc > 1 ? std::atoi(argv[1]) : 300;
  const unsigned seed =
      argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::random_device{}();
  std::printf("seed %u\n", seed);
  std::fflush(stdout);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  return vole::run([=] { return run(connections, seed); });
}
