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

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <optional>

#include "regress.h"

namespace {

// Not at one P: main would have to take it from the goroutine, and who was evicted gets less time.
VOLE_AT_PROCS(ZombiesOnABusyMachine, 2, 4);

// A process that stops one of our threads, says so, and lets it go when it has been told to, and
// four times the grace has passed. Nothing but system calls: we have threads.
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
    waitpid(child_, nullptr, 0);
    for (const int fd : {says_[0], says_[1], hears_[0], hears_[1]}) close(fd);
  }
  tracer(const tracer&) = delete;
  tracer& operator=(const tracer&) = delete;

  bool holds() const { return holds_; }
  void tell() const { EXPECT_EQ(write(hears_[1], "", 1), 1); }

 private:
  [[noreturn]] void trace(pid_t thread) const {
    char c = 0;
    if (read(hears_[0], &c, 1) != 1) _exit(1);
    int status = 0;
    c = ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0 &&
        ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 &&
        waitpid(thread, &status, __WALL) == thread;
    if (write(says_[1], &c, 1) != 1 || c == 0 || read(hears_[0], &c, 1) != 1) _exit(1);
    constexpr timespec kPastTheGrace{0, 200'000'000};
    nanosleep(&kPastTheGrace, nullptr);
    _exit(0);  // detaches
  }

  int says_[2] = {}, hears_[2] = {};
  pid_t child_ = 0;
  bool holds_ = false;
};

TEST_P(ZombiesOnABusyMachine, WhoIsNotLetRunIsWaitedFor) {
  for (int round = 0; round < 2; ++round) {
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
    t.reset();
    EXPECT_EQ(vole::num_goroutines(), 0u);
  }
  // The fixture's: no new zombie, no thread left.
}

}  // namespace
