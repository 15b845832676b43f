// Goroutines that wait for files behind vole's back, as hooked libraries do, amid all that moves
// goroutines from thread to thread: deadlines, closes, blocked threads, stops of the world, the end.
//
// Note   whatever happens, no byte is lost, every wait ends, and whoever comes back on another thread
//        than his own has been counted.

#include <vole/detail/foreign.h>
#include <vole/vole.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "stress.h"

namespace {

namespace foreign = vole::detail::foreign;
using vole_test::dice;

VOLE_STRESS(ForeignStress);

constexpr std::int64_t kMicro = 1000;

struct counts {
  std::atomic<std::uint64_t> strayed{0};  // waits that came back on another thread
};

// poll(2) of a library, and the check that it comes home.
int wait_hooked(counts& c, pollfd* p, unsigned n, std::int64_t deadline = foreign::kNoDeadline) {
  const long home = ::syscall(SYS_gettid);
  const int ready = foreign::wait_fds(p, n, deadline);
  if (::syscall(SYS_gettid) != home) c.strayed.fetch_add(1);
  return ready;
}

// Between calls of a library: what moves a goroutine, or its thread's P.
void disturb(dice& d) {
  switch (d.below(24)) {
    case 0: return vole::yield();
    case 1: return vole::sleep(std::chrono::microseconds(d.below(300)));
    case 2: return static_cast<void>(vole::stats());
    case 3: return vole::blocking([&] { ::usleep(d.below(200)); });
    case 4: ::usleep(d.below(400)); return;  // nobody has hooked it
    case 5: {
      const foreign::call_at_home here;
      ::usleep(d.below(100));
      return;
    }
    default: return foreign::give_way();
  }
}

void send_all(counts& c, dice d, int fd, int total) {
  char bytes[64];
  for (int at = 0; at < total;) {
    const int n = std::min<int>(total - at, 1 + static_cast<int>(d.below(sizeof(bytes))));
    for (int k = 0; k < n; ++k) bytes[k] = static_cast<char>(at + k);
    const ssize_t sent =
        ::send(fd, bytes, static_cast<std::size_t>(n), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) at += static_cast<int>(sent);
    pollfd p{fd, POLLOUT, 0};
    if (sent < 0) wait_hooked(c, &p, 1);
    disturb(d);
  }
}

void receive_all(counts& c, dice d, int fd, int total) {
  char bytes[64];
  for (int at = 0; at < total;) {
    const ssize_t n = ::recv(fd, bytes, 1 + d.below(sizeof(bytes)), MSG_DONTWAIT);
    for (ssize_t k = 0; k < n; ++k) ASSERT_EQ(bytes[k], static_cast<char>(at + k)) << at;
    if (n > 0) at += static_cast<int>(n);
    pollfd p[6] = {{fd, POLLIN, 0}, {-1, 0, 0}, {fd, POLLIN, 0},
                   {-1, 0, 0},      {-1, 0, 0}, {fd, POLLPRI, 0}};
    const bool timed = d.below(3) == 0;
    if (n < 0)
      wait_hooked(c, p, d.below(4) == 0 ? 6 : 1,
                  timed ? foreign::now_ns() + d.below(500) * kMicro : foreign::kNoDeadline);
    disturb(d);
  }
}

TEST_P(ForeignStress, NoByteIsLostAndStraysAreCounted) {
  const vole_test::time_limit limit;
  dice d(1);
  do {
    counts c;
    EXPECT_EQ(
        vole::run([&] {
          constexpr int kPairs = 12, kBytes = 600;
          vole::wait_group all;
          int fd[2 * kPairs];
          for (int i = 0; i < kPairs; ++i) {
            int* const pair = fd + 2 * i;
            ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
            for (const int side : {0, 1}) {
              all.go([&c, e = dice(d.fork()), at = pair[side]] { send_all(c, e, at, kBytes); });
              all.go([&c, e = dice(d.fork()), at = pair[side]] { receive_all(c, e, at, kBytes); });
            }
          }
          all.go([e = dice(d.fork())]() mutable {  // stops of the world
            for (int i = 0; i < 10; ++i) {
              vole::sleep(std::chrono::microseconds(e.below(1000)));
              static_cast<void>(vole::goroutines());
            }
          });
          all.wait();
          for (const int each : fd) ::close(each);
          EXPECT_LE(c.strayed.load(), vole::stats().hooked_migrations);
        }),
        0);
  } while (!limit.over());
}

// Numbers are closed under those who wait for them, and come back as other files.
TEST_P(ForeignStress, ClosedNumbersWakeTheirSleepers) {
  const vole_test::time_limit limit;
  dice d(2);
  do {
    counts c;
    EXPECT_EQ(vole::run([&] {
                vole::wait_group all;
                for (int i = 0; i < 16; ++i)
                  all.go([&c, e = dice(d.fork())]() mutable {
                    int pair[2];
                    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
                    std::atomic<int> ready{0};
                    vole::wait_group waits;
                    waits.go([&c, &ready, at = pair[0]] {
                      pollfd p{at, POLLIN, 0};
                      ready = 1;
                      EXPECT_EQ(wait_hooked(c, &p, 1), 1);
                      EXPECT_TRUE(p.revents == POLLNVAL || p.revents == POLLIN) << p.revents;
                    });
                    while (ready.load() == 0) vole::yield();
                    disturb(e);
                    // Something else under this number, at once, if the closer is slow: so it is held.
                    const int other = ::open("/dev/null", O_RDWR | O_CLOEXEC);
                    {
                      foreign::closing closes(pair[0]);
                      if (e.below(4) == 0) static_cast<void>(!::write(pair[1], "x", 1));
                      ASSERT_EQ(::dup2(other, pair[0]), pair[0]);
                      closes.done();
                    }
                    waits.wait();
                    ::close(other);
                    ::close(pair[0]);
                    ::close(pair[1]);
                  });
                all.wait();
              }),
              0);
  } while (!limit.over());
}

// The runtime ends under goroutines that wait.
TEST_P(ForeignStress, TheEndUnderThoseWhoWait) {
  const vole_test::time_limit limit;
  dice d(3);
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  do {
    counts c;
    const bool told = d.below(2) == 0;
    EXPECT_EQ(vole::run([&] {
                for (int i = 0; i < 20; ++i)
                  vole::go([&c, told, at = pair[i % 2], e = dice(d.fork())]() mutable {
                    for (;;) {
                      pollfd p[2] = {{at, told ? short{POLLIN | POLLOUT} : short{POLLPRI}, 0},
                                     {at, POLLPRI, 0}};
                      wait_hooked(c, p, 2, foreign::now_ns() + e.below(400) * kMicro);
                      disturb(e);
                    }
                  });
                vole::sleep(std::chrono::microseconds(d.below(2000)));
              }),
              0);
  } while (!limit.over());
  allow_zombies();
  ::close(pair[0]);
  ::close(pair[1]);
}

}  // namespace
