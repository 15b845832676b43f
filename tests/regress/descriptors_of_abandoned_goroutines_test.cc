// A goroutine that waits in the library when the runtime ends leaves the library's descriptors
// open.
//
//     goroutine                                  the end of the runtime
//     wait_readable: duplicates the descriptor,
//       parks
//                                                takes it off the poller; its frame, which owns
//                                                  the duplicate, is not unwound
//     (gone)                                     the peer never sees the end of the connection
//
// What the library owns in a goroutine's frame is known to the end of the runtime
// (sched/life/belonging.h).

#include <sys/socket.h>
#include <unistd.h>
#include <vole/vole.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../api/net_pair.h"
#include "../api/parked.h"
#include "regress.h"

namespace {

using namespace std::chrono_literals;
using vole::net::conn;
using vole::net::listener;

class AbandonedDescriptors : public vole_test::Runtime {
 protected:
  static constexpr int kRuns = 20;

  // Each run leaves goroutines that wait in `wait`; afterwards the same files are open.
  void expect_no_more_files(const char* reason, const std::function<void()>& wait) {
    const std::ptrdiff_t before = vole_test::open_files();
    for (int i = 0; i < kRuns; ++i)
      vole::run([&] {
        vole::go([&] { wait(); });
        vole_test::wait_until_parked(1, reason);
      });
    EXPECT_EQ(vole_test::open_files(), before);
  }
};
INSTANTIATE_TEST_SUITE_P(Ps, AbandonedDescriptors, testing::Values(1, 2), vole_test::procs_name);

struct two_ends {
  two_ends() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0); }
  ~two_ends() {
    if (fd[0] >= 0) close(fd[0]);
    close(fd[1]);
  }
  int fd[2];
};

TEST_P(AbandonedDescriptors, WaitReadable) {
  const two_ends s;
  expect_no_more_files("IO wait", [&] { vole::wait_readable(s.fd[0]); });
}

TEST_P(AbandonedDescriptors, WaitWritable) {
  const two_ends s;
  const std::string much(1 << 16, 'x');
  while (write(s.fd[0], much.data(), much.size()) > 0) {
  }
  expect_no_more_files("IO wait", [&] { vole::wait_writable(s.fd[0], vole::now() + 1h); });
}

TEST_P(AbandonedDescriptors, ThePeerSeesTheEndAfterwards) {
  two_ends s;
  vole::run([&] {
    vole::go([&] { vole::wait_readable(s.fd[0]); });
    vole_test::wait_until_parked(1, "IO wait");
  });
  close(std::exchange(s.fd[0], -1));
  char one[1];
  EXPECT_EQ(read(s.fd[1], one, 1), 0) << "a duplicate is open";
}

// Listens, but its queue is full: connecting takes for ever.
struct full_listener {
  full_listener(const char* network, const std::string& at) : l(vole::net::listen(network, at)) {
    ::listen(l.native_handle(), 0);
    std::error_code error;
    for (int refused = 0; refused < 2;) {
      conn c = vole::net::dial(network, l.local_address().to_string(), 50ms, error);
      if (c) pending.push_back(std::move(c));
      if (!c) ++refused;
    }
  }
  listener l;
  std::vector<conn> pending;
};

TEST_P(AbandonedDescriptors, Dial) {
  const full_listener full("tcp", "127.0.0.1:0");
  const std::string at = full.l.local_address().to_string();
  vole::shutdown();  // the listener's
  expect_no_more_files("IO wait", [&] { (void)vole::net::dial("tcp", at); });
}

TEST_P(AbandonedDescriptors, DialOfABusyUnixListener) {
  const full_listener full("unix", "@vole abandoned " + std::to_string(getpid()));
  const std::string at = full.l.local_address().to_string();
  vole::shutdown();
  expect_no_more_files("IO wait", [&] { (void)vole::net::dial("unix", at); });
}

bool has_ipv6(const std::string& port) {
  std::error_code error;
  return static_cast<bool>(vole::net::listen("tcp6", "[::1]:" + port, error));
}

// Both families: one or two goroutines of the library's, and the user's, which waits for them.
TEST_P(AbandonedDescriptors, DialOfBothFamilies) {
  const full_listener four("tcp", "127.0.0.1:0");
  const std::string port = std::to_string(four.l.local_address().port());
  if (!has_ipv6(port)) GTEST_SKIP() << "no IPv6, or somebody else has that port";
  const full_listener six("tcp6", "[::1]:" + port);
  vole::shutdown();
  const std::ptrdiff_t before = vole_test::open_files();
  for (std::size_t i = 0; i < 6; ++i)
    vole::run([&] {
      vole::go([&] { (void)vole::net::dial("tcp", ":" + port); });
      vole_test::wait_until_parked(1 + i % 2, "IO wait");
    });
  EXPECT_EQ(vole_test::open_files(), before);
}

// A name is looked up by a thread of its own, which goes on; what it finds is freed.
TEST_P(AbandonedDescriptors, Resolve) {
  for (int i = 0; i < 10; ++i)
    vole::run([&] {
      vole::go([] { (void)vole::net::resolve("tcp", "localhost:http"); });
      vole::yield();
    });
}

TEST_P(AbandonedDescriptors, Accept) {
  listener l = vole::net::listen("tcp", "127.0.0.1:0");
  vole::shutdown();
  expect_no_more_files("IO wait", [&] {
    std::error_code error;
    (void)l.accept(error);
  });
}

TEST_P(AbandonedDescriptors, ReadFrom) {
  auto p = vole::net::listen_packet("udp", "127.0.0.1:0");
  vole::shutdown();
  expect_no_more_files("IO wait", [&] {
    char text[8];
    (void)p.read_from(text);
  });
}

}  // namespace
