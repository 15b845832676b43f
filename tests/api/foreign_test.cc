// What an interposing library relies on: vole/detail/foreign.h.

#include <vole/detail/foreign.h>
#include <vole/vole.h>

#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

namespace {

namespace foreign = vole::detail::foreign;

struct pair_of_sockets {
  pair_of_sockets() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0); }
  ~pair_of_sockets() {
    ::close(fd[0]);
    ::close(fd[1]);
  }
  int fd[2];
};

class Foreign : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(Foreign);

TEST(ForeignPlain, APlainThreadCannotPark) { EXPECT_FALSE(foreign::can_park()); }

TEST_P(Foreign, WaitsUntilSomebodyWrites) {
  run([] {
    EXPECT_TRUE(foreign::can_park());
    pair_of_sockets s;
    vole::go([&] { EXPECT_EQ(::write(s.fd[1], "x", 1), 1); });
    pollfd p{s.fd[0], POLLIN, 0};
    EXPECT_EQ(foreign::wait_fds(&p, 1, foreign::kNoDeadline), 1);
    EXPECT_EQ(p.revents, POLLIN);
  });
}

TEST_P(Foreign, ADeadlineEndsTheWait) {
  run([] {
    pair_of_sockets s;
    pollfd p{s.fd[0], POLLIN, 0};
    const auto begin = foreign::now_ns();
    EXPECT_EQ(foreign::wait_fds(&p, 1, begin + 5'000'000), 0);
    EXPECT_GE(foreign::now_ns() - begin, 5'000'000);
  });
}

}  // namespace
