// Unix sockets: descriptors and credentials go across, pipe() has two ends.

#include <vole/net.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "fixture.h"
#include "net_pair.h"

namespace {

using namespace std::chrono_literals;
using vole::net::conn;

class NetUnix : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(NetUnix);

TEST_P(NetUnix, ThePipeHasTwoEnds) {
  run([] {
    auto [near, far] = vole::net::pipe();
    auto echoing = vole::spawn([c = std::move(far)]() mutable { vole_test::echo(std::move(c)); });
    near.write("hello");
    char answer[5];
    EXPECT_EQ(near.read_full(answer), 5u);
    near.set_read_deadline(vole::now() + 1ms);
    EXPECT_EQ(vole_test::read_error(near), vole::errc::deadline_exceeded);
    near.set_read_deadline(vole::time_point::max());
    near.close_write();
    char end[1];
    EXPECT_EQ(near.read(end), 0u);
    echoing.join();
    EXPECT_EQ(near.local_address().network(), "");
  });
}

TEST_P(NetUnix, DescriptorsArriveAndAreClosedOnExec) {
  run([] {
    auto [near, far] = vole::net::pipe();
    auto [one, other] = vole::net::pipe();
    const int fds[] = {one.native_handle(), other.native_handle()};
    near.send_fds(fds);
    std::vector<int> got = far.recv_fds();
    ASSERT_EQ(got.size(), 2u);
    for (const int fd : got) EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    conn copy(got[0]);
    ::close(got[1]);
    copy.write("x");
    EXPECT_FALSE(vole_test::read_error(other)) << "the same socket";
    near.close();
    EXPECT_TRUE(far.recv_fds().empty()) << "the end";
  });
}

// The receiver has room for fewer than come: none leaks (the fixture counts).
TEST_P(NetUnix, TooManyDescriptorsAreClosed) {
  run([] {
    auto [near, far] = vole::net::pipe();
    const std::vector<int> four(4, near.native_handle());
    for (const std::size_t room : {0u, 1u, 2u, 3u}) {
      near.send_fds(four);
      std::error_code error;
      EXPECT_TRUE(far.recv_fds(room, error).empty()) << room;
      EXPECT_EQ(error, std::errc::message_size) << room;
    }
    near.send_fds(four);
    std::vector<int> got = far.recv_fds(4);
    EXPECT_EQ(got.size(), 4u);
    for (const int fd : got) ::close(fd);
    near.send_fds(four);  // read as a byte, they are closed by the kernel
    char byte[1];
    EXPECT_EQ(far.read(byte), 1u);
    EXPECT_EQ(byte[0], '\0');
    std::error_code error;
    near.send_fds(std::vector<int>(300, 0), error);
    EXPECT_EQ(error, std::errc::invalid_argument);
    near.send_fds({}, error);
    EXPECT_EQ(error, std::errc::invalid_argument);
    const int bad[] = {-1};
    near.send_fds(bad, error);
    EXPECT_EQ(error, std::errc::bad_file_descriptor);
  });
}

TEST_P(NetUnix, WaitingForDescriptorsIsCancelled) {
  run([] {
    auto [near, far] = vole::net::pipe();
    auto [ctx, cancel] = vole::with_timeout(vole::context::background(), 2ms);
    std::error_code error;
    EXPECT_TRUE(far.recv_fds(1, ctx, error).empty());
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
    auto tcp = vole_test::connected_pair();
    const int fds[] = {near.native_handle()};
    tcp.near.send_fds(fds, error);
    EXPECT_EQ(error, std::errc::invalid_argument);
  });
}

TEST_P(NetUnix, ThePeerIsKnown) {
  run([] {
    const std::string at = "@vole net unix " + std::to_string(getpid());
    auto l = vole::net::listen("unix", at);
    conn c = vole::net::dial("unix", at);
    conn far = l.accept();
    const vole::net::credentials us{getpid(), getuid(), getgid()};
    EXPECT_EQ(far.peer_credentials(), us);
    EXPECT_EQ(c.peer_credentials(), us);
    std::error_code error;
    auto tcp = vole_test::connected_pair();
    (void)tcp.near.peer_credentials(error);
    EXPECT_EQ(error, std::errc::invalid_argument);
    EXPECT_THROW((void)conn().peer_credentials(), std::system_error);
  });
}

TEST_P(NetUnix, DescriptorsHaveEveryForm) {
  run([] {
    auto [near, far] = vole::net::pipe();
    const int fd = near.native_handle();
    near.send_fds({fd});
    std::error_code error;
    near.send_fds({fd, fd}, error);
    EXPECT_FALSE(error);
    near.send_fds({fd}, vole::context::background());
    std::vector<int> got = far.recv_fds(error);
    EXPECT_FALSE(error);
    EXPECT_EQ(got.size(), 1u);
    for (const int more : far.recv_fds(vole::context::background())) got.push_back(more);
    for (const int more : far.recv_fds(vole::context::background(), error)) got.push_back(more);
    EXPECT_EQ(got.size(), 4u);
    vole::cancelable soon = vole::with_timeout(vole::context::background(), 1ms);
    EXPECT_TRUE(far.recv_fds(soon.ctx, error).empty());
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
    for (const int one : got) close(one);
  });
}

}  // namespace
