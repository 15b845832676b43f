#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/note.h"
#include "os/os.h"

namespace vole::os {
namespace {

struct seen {
  std::string name;
  sigset_t mask;
  std::size_t stack = 0;
  std::uint64_t id = 0;
};

void look(void* argument) {
  auto* const s = static_cast<seen*>(argument);
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  s->name = name;
  s->id = thread_id();
  pthread_sigmask(SIG_SETMASK, nullptr, &s->mask);
  pthread_attr_t a;
  pthread_getattr_np(pthread_self(), &a);
  pthread_attr_getstacksize(&a, &s->stack);
  pthread_attr_destroy(&a);
}

bool blocks(const seen& s, int number) { return sigismember(&s.mask, number) == 1; }

seen run(bool block) {
  seen s;
  thread t;
  EXPECT_EQ(create_thread(&t, {look, &s, "vole worker", block}), 0);
  join_thread(t);
  return s;
}

TEST(Thread, HasNameStackAndAnIdOfItsOwn) {
  const seen s = run(false);
  EXPECT_EQ(s.name, "vole worker");
  EXPECT_GE(s.stack, 256u * 1024);
  EXPECT_NE(s.id, thread_id());
}

TEST(Thread, BlockedOneBlocksAllButFaults) {
  const seen s = run(true);
  EXPECT_TRUE(blocks(s, SIGTERM));
  EXPECT_TRUE(blocks(s, SIGURG));
  EXPECT_FALSE(blocks(s, SIGSEGV));
  EXPECT_FALSE(blocks(s, SIGBUS));
}

TEST(Thread, OthersGetTheSavedMaskWhateverTheCreatorsIs) {
  sigset_t usr, before;
  sigemptyset(&usr);
  sigaddset(&usr, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &usr, &before);
  save_signal_mask();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_TRUE(blocks(run(false), SIGUSR2));
  EXPECT_FALSE(blocks(run(false), SIGTERM));
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_FALSE(sigismember(&now, SIGUSR2));
  save_signal_mask();
  EXPECT_FALSE(blocks(run(false), SIGUSR2));
}

TEST(Thread, DetachedOneRuns) {
  base::note n;
  thread t;
  ASSERT_EQ(create_thread(&t, {[](void* a) { static_cast<base::note*>(a)->wake(); }, &n}), 0);
  detach_thread(t);
  n.sleep();
}

TEST(Clock, NeitherRunsBackwards) {
  const std::int64_t now = now_ns();
  const std::int64_t cpu = thread_cpu_ns();
  yield_thread();
  EXPECT_GE(now_ns(), now);
  EXPECT_GE(thread_cpu_ns(), cpu);
}

TEST(Membarrier, RegistersAndRuns) {
  if (!membarrier_register()) GTEST_SKIP() << "this kernel has no private expedited membarrier";
  membarrier();
}

TEST(Environment, SetAndUnset) {
  setenv("VOLE_TEST_VARIABLE", "x", 1);
  EXPECT_STREQ(environment("VOLE_TEST_VARIABLE"), "x");
  unsetenv("VOLE_TEST_VARIABLE");
  EXPECT_EQ(environment("VOLE_TEST_VARIABLE"), nullptr);
}

TEST(ErrorText, KnownAndUnknown) {
  EXPECT_EQ(error_text(ENOMEM), "Cannot allocate memory");
  EXPECT_EQ(error_text(517), "errno 517");
  EXPECT_EQ(error_text(-1), "unknown error");
  EXPECT_EQ(error_text(100'000), "unknown error");
}

constinit int fork_hooks_run = 0;

TEST(Fork, LatestHooksRunOnceInParentAndChild) {
  static constexpr fork_hooks kFirst{[]() noexcept { fork_hooks_run += 1000; },
                                     []() noexcept { fork_hooks_run += 1000; },
                                     []() noexcept { fork_hooks_run += 1000; }};
  static constexpr fork_hooks kLatest{[]() noexcept { fork_hooks_run += 1; },
                                      []() noexcept { fork_hooks_run += 10; },
                                      []() noexcept { fork_hooks_run += 100; }};
  ASSERT_TRUE(on_fork(&kFirst));
  ASSERT_TRUE(on_fork(&kLatest));
  const pid_t child = fork();
  if (child == 0) _exit(fork_hooks_run);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 101);
  EXPECT_EQ(fork_hooks_run, 11);
}

// A pipe that is full, then drained: the writer must go on after the short write.
TEST(WriteStderr, LoopsOverShortWritesAndKeepsErrno) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string text(1 << 20, 'v');
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    errno = 77;
    base::write_stderr(text.data(), text.size());
    const bool kept = errno == 77;
    close(STDERR_FILENO);
    errno = 78;
    base::write_stderr("x", 1);
    _exit(kept && errno == 78 ? 0 : 1);
  }
  close(ends[1]);
  std::size_t got = 0;
  char buffer[1000];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    got += static_cast<std::size_t>(n);
  close(ends[0]);
  EXPECT_EQ(got, text.size());
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace vole::os
