// A thread is left behind for ever though its goroutine has ended: the kernel did not let it run.
//
//     M in user code                         the runtime ends
//     (its goroutine is about to end;
//     other processes have the processor)    waits for 50 ms; the M has not come in:
//                                              it is a zombie
//     runs, comes in, sleeps for ever
//
// The 50 ms are for threads that run, or sleep in a call; one that does neither is waited for.
// Here a tracer keeps it from running.

#include <vole/vole.h>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <optional>
#include <utility>

#include "regress.h"

namespace {

// Not at one P: main would have to take it from the goroutine, and who was evicted gets less time.
VOLE_AT_PROCS(ZombiesOnABusyMachine, 2, 4);

// A process that stops one of our threads, says so, and lets it go when it has been told to, and
// four times the grace has passed. Nothing but system calls: we have threads. It stops the thread
// anywhere, perhaps with a lock that we need to get as far as to tell it (under TSan every atomic
// is behind one), so it gives up when it hears nothing.
class tracer {
 public:
  explicit tracer(pid_t thread) {
    EXPECT_EQ(pipe(says_), 0);
    EXPECT_EQ(pipe(hears_), 0);
    child_ = fork();
    if (child_ == 0) trace(thread);
    prctl(PR_SET_PTRACER, child_, 0, 0, 0);
    tell();  // may begin
    char c = 0;
    holds_ = read(says_[0], &c, 1) == 1 && c == 1;
  }
  ~tracer() {
    if (child_ != 0) end();
    for (const int fd : {says_[0], says_[1], hears_[0], hears_[1]}) close(fd);
  }
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  bool holds() const { return holds_; }
  // Whether the thread was held to the end.
  bool end() {
    int status = 0;
    waitpid(std::exchange(child_, 0), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  void tell() const { EXPECT_EQ(write(hears_[1], "", 1), 1); }

 private:
  [[noreturn]] void trace(pid_t thread) const {
    char c = 0;
    if (read(hears_[0], &c, 1) != 1) _exit(1);
    int status = 0;
    c = ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0 &&
        ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 &&
        waitpid(thread, &status, __WALL) == thread;
    if (write(says_[1], &c, 1) != 1 || c == 0) _exit(1);
    constexpr int kGivesUp = 2000;  // ms
    pollfd told{hears_[0], POLLIN, 0};
    if (poll(&told, 1, kGivesUp) != 1) _exit(1);
    constexpr timespec kPastTheGrace{0, 200'000'000};
    nanosleep(&kPastTheGrace, nullptr);
    _exit(0);  // detaches
  }

  int says_[2] = {}, hears_[2] = {};
  pid_t child_ = 0;
  bool holds_ = false;
};

TEST_P(ZombiesOnABusyMachine, WhoIsNotLetRunIsWaitedFor) {
  for (int held = 0, tries = 0; held < 2; ++tries) {
    ASSERT_LT(tries, 50) << "the thread held a lock of ours each time";
    std::atomic<pid_t> thread{0};
    std::atomic<bool> may_end{false};
    std::optional<tracer> t;
    vole::run([&] {
      vole::go([&] {
        thread = gettid();
        while (!may_end) {
        }
      });
      while (thread == 0) vole::yield();
      t.emplace(thread.load());
      may_end = true;  // which it cannot see
      t->tell();
    });
    if (!t->holds()) GTEST_SKIP() << "nobody may trace here";
    held += t->end() ? 1 : 0;
    EXPECT_EQ(vole::num_goroutines(), 0u);
  }
  // The fixture's: no new zombie, no thread left.
}

}  // namespace
