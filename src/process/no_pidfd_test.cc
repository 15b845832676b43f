// Programs on a kernel without pidfds: the wait takes a thread, and the rest is as ever.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "process/launch.h"

namespace {

using namespace std::chrono_literals;
namespace process = vole::process;

bool has_children() {
  siginfo_t about{};
  return waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

class NoPidfd : public testing::Test {
 protected:
  void SetUp() override { vole::detail::pretend_no_pidfd(true); }
  void TearDown() override {
    vole::detail::pretend_no_pidfd(false);
    EXPECT_FALSE(has_children());
  }
};

TEST_F(NoPidfd, RunsToItsEnd) {
  vole::run([] {
    const process::result r = process::run({"sh", "-c", "echo out; exec >&-; exec 2>&-; exit 4"});
    EXPECT_EQ(r.output, "out\n");
    EXPECT_EQ(r.status, 4);
  });
}

TEST_F(NoPidfd, AContextKills) {
  vole::run([] {
    auto [ctx, cancel] = vole::with_timeout(vole::context::background(), 5ms);
    std::error_code error;
    process::run({"sleep", "1000"}, ctx, error);
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
    // Its pipes have ended, it has not: only its end is waited for.
    auto [late, cancel_late] = vole::with_timeout(vole::context::background(), 20ms);
    process::run({"sleep", "1000"}, {.out = process::stream::null, .err = process::stream::null},
                 late, error);
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
  });
}

TEST_F(NoPidfd, AStartedOneIsWaitedFor) {
  vole::run([] {
    process::child c = process::start({"sleep", "1000"});
    auto [ctx, cancel] = vole::with_timeout(vole::context::background(), 2ms);
    std::error_code error;
    c.wait(ctx, error);
    EXPECT_EQ(error, vole::errc::deadline_exceeded);
    EXPECT_TRUE(c.kill(SIGTERM));
    EXPECT_EQ(c.wait().signal(), SIGTERM);
    EXPECT_EQ(c.wait().signal(), SIGTERM);
    const process::child destroyed = process::start({"sleep", "1000"});
  });
}

}  // namespace
