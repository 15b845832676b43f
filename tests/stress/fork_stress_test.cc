// Goroutines fork, vfork and exec all the time, beside others that wait, compute and start programs.
// Every child ends as it should, and nobody in the parent is held up for good.

#include <sys/wait.h>
#include <unistd.h>

#include <vole/vole.h>

#include <cerrno>
#include <chrono>

#include "stress.h"

namespace {

using namespace std::chrono_literals;
using vole_test::dice;
using vole_test::time_limit;

class ForkStress : public vole_test::Stress {};
INSTANTIATE_TEST_SUITE_P(Ps, ForkStress, testing::Values(1, 4), vole_test::procs_name);

// Its exit code; -1: it did not exit.
int code_of(pid_t child) {
  int status = 0;
  vole::blocking([&] {
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  });
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void fork_and_exit(int code) {
  const pid_t child = fork();
  if (child == 0) _exit(code);
  ASSERT_GT(child, 0);
  ASSERT_EQ(code_of(child), code);
}

void fork_and_exec() {
  const pid_t child = fork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "exit 7", nullptr);
    _exit(1);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(code_of(child), 7);
}

// The parent's thread stands still, on this goroutine's stack, until the child is another program.
void vfork_and_exec() {
  const pid_t child = vfork();
  if (child == 0) {
    execlp("sh", "sh", "-c", "exit 8", nullptr);
    _exit(1);
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(code_of(child), 8);
}

void start_children(dice d, const time_limit& limit) {
  while (!limit.over()) {
    switch (d.below(4)) {
      case 0: fork_and_exit(static_cast<int>(d.below(100))); break;
      case 1: fork_and_exec(); break;
      case 2: vfork_and_exec(); break;
      default: ASSERT_EQ(vole::process::run({"echo", "text"}).output, "text\n");
    }
  }
}

TEST_P(ForkStress, ChildrenOfManyGoroutines) {
  if (vole_test::kSanitized) GTEST_SKIP() << "what a sanitizer knows is copied with every child";
  const time_limit limit;
  vole::run([&] {
    vole::wait_group all;
    for (std::uint64_t i = 0; i < 4; ++i) all.go([&, i] { start_children(dice(i), limit); });
    const vole::chan<int> c;
    all.go([&] {
      for (int i = 0; !limit.over(); ++i) c.send(i);
      c.close();
    });
    all.go([&] {
      for (int i = 0; const auto got = c.recv(); ++i) ASSERT_EQ(*got, i);
    });
    all.go([&] {
      while (!limit.over()) vole::sleep_for(100us);
    });
    all.wait();
  });
  expect_clean();
}

}  // namespace
