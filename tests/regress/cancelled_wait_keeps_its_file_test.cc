// run() does not come back: a goroutine whose wait was cancelled ends while it still uses the file.
//
//     goroutine, in wait_readable(fd, ctx)       the end of the runtime
//     has a reference to the duplicate, waits
//     (cancelled) is back: what does the          left_behind = 1
//       context say? ctx.err() is a call that
//       may be the last: it sleeps there, and
//       nobody knows what it holds
//                                                closes the duplicate, which belongs to the frame;
//                                                  waits for the reference: for ever
//
// The library asks the context without that (error_of).

#include <sys/socket.h>
#include <unistd.h>
#include <vole/vole.h>

#include "../api/parked.h"
#include "regress.h"

namespace {

class CancelledWait : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, CancelledWait, testing::Values(2, 4), vole_test::procs_name);

TEST_P(CancelledWait, EndsWithTheRuntime) {
  int fd[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
  const std::ptrdiff_t before = vole_test::open_files();
  for (int round = 0; round < 200; ++round) {
    auto made = vole::with_cancel(vole::context::background());
    vole::run([&] {
      vole::go([&] {
        std::error_code error;
        vole::wait_readable(fd[0], made.ctx, error);
      });
      vole_test::wait_until_parked(1, "IO wait");
      made.cancel();
    });
  }
  EXPECT_EQ(vole_test::open_files(), before);
  close(fd[0]);
  close(fd[1]);
  allow_zombies();
}

}  // namespace
