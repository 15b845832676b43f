// A switch costs five times as much as it should: somebody returns through an old frame.
//
//     goroutine A                            goroutine B
//     calls yield(): return address A1 is
//       on the processor's return stack
//       door: the next is B; rsp = B's
//                                            `ret` to B1: predicted A1, wrong, ~10 ns
//
// The doors therefore leave by a jump, and no frame of ours is live across a switch
// (docs/design/0001-doors.md). The test takes two goroutines through yields, one
// instruction at a time: between the moment the stack pointer is another goroutine's
// and the user's next instruction, no `ret` may take a return address that was on
// that stack before. Calls made on the way, and their returns, lie below it.
// And the way is direct [35]: one change of stacks a yield, g0's is not touched. And it is
// straight: the jump at its end is guessed from the last few branches that were taken, which
// should be the caller's own (docs/design/0015-few-branches.md).
//
// Note   the traced thread is an M of a forked child: threads are traced one by one.
//        Its sysmon is stopped, for it would see slices that never end [27], and a
//        goroutine that is asked to yield on its way out takes a longer way.

#include <vole/vole.h>

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "../api/fixture.h"
#include "arch/context.h"
#include "base/atomic.h"

#if defined(__x86_64__)

namespace {

constexpr int kYields = 60;
constexpr int kNoTracing = 77;       // the child's exit status
constexpr long kAtMost = 5'000'000;  // instructions
constexpr std::uint64_t kAnotherStack = 64 * 1024;

std::atomic<int> at_work{0};

// The user's code has a section of its own, so that the tracer knows it when it sees it.
#define VOLE_USER_CODE [[gnu::section("vole_user_code"), gnu::noinline]]
VOLE_USER_CODE void through_the_door() {
  for (int i = 0; i < kYields; ++i) vole_door_yield();
}
VOLE_USER_CODE void through_the_api() {
  for (int i = 0; i < kYields; ++i) vole::yield();
}
// The first to come waits for the other, who hands its value over and waits in turn.
vole::chan<int>& handed_over() {
  static vole::chan<int> c;
  return c;
}
// A channel whose lock is its P's own by now (base/biased_lock.h).
[[maybe_unused]] void use_it_often() {
  int value = 0;
  for (std::uint32_t i = 0; i < vole::base::kBiasAfter; ++i) {
    vole::go([] { int sent = 0; vole::detail::chan_send<sizeof(int)>(vole::detail::access::core(handed_over()), &sent); });
    vole::detail::chan_recv<sizeof(int)>(vole::detail::access::core(handed_over()), &value);
  }
}
[[maybe_unused]] VOLE_USER_CODE void through_a_channel() {
  static std::atomic<int> callers{0};
  const bool sends = callers++ == 0;
  vole::detail::chan_core* const c = vole::detail::access::core(handed_over());
  int value = 0;
  for (int i = 0; i < kYields; ++i) {
    if (sends == (i % 2 == 0)) {
      vole::detail::chan_send<sizeof(int)>(c, &value);
    } else {
      vole::detail::chan_recv<sizeof(int)>(c, &value);
    }
  }
}
extern "C" const char __start_vole_user_code[], __stop_vole_user_code[];  // the linker's

bool is_users(std::uint64_t rip) {
  return rip >= reinterpret_cast<std::uint64_t>(__start_vole_user_code) &&
         rip < reinterpret_cast<std::uint64_t>(__stop_vole_user_code);
}

void signal_this_thread(int signal) {
  ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
}

// In the child: A starts the tracing of its thread, on which B runs, too.
[[noreturn]] void be_traced(void (*yields)(), void (*prepares)()) {
  vole::set_max_procs(1);
  vole::run([yields, prepares] {
    if (prepares != nullptr) prepares();
    vole::wait_group done;
    done.go([yields] {
      while (at_work == 0) vole::yield();  // B has its stack
      if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kNoTracing);
      signal_this_thread(SIGUSR1);
      yields();
      signal_this_thread(SIGUSR2);
    });
    done.go([yields] {
      ++at_work;
      yields();
    });
    done.wait();
  });
  ::_exit(0);
}

// What the tracer has seen, instruction by instruction.
class trace {
 public:
  // `code`: the bytes of the instruction that comes next.
  void step(std::uint64_t rip, std::uint64_t rsp, std::uint64_t code) {
    const bool user = is_users(rip);
    if (rip <= last_rip_ || rip - last_rip_ > kLongestInstruction) ++taken_;
    last_rip_ = rip;
    if (last_rsp_ != 0 && distance(rsp, last_rsp_) > kAnotherStack) {
      landing_ = rsp;
      returns_up_ = 0;
      ++changes_;
    }
    last_rsp_ = rsp;
    if (user) return in_user_code();
    in_user_code_ = false;
    if (landing_ != 0 && is_return(code) && rsp >= landing_) ++returns_up_;
  }

  int arrivals = 0;  // in user code, on a stack that was switched to
  int direct = 0;    // of these, after one change of stacks
  int with_returns = 0;
  int worst = 0;  // most returns up on one way
  std::vector<int> branches;  // taken on each way, from the call to the arrival; short ones are missed

 private:
  static std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }
  static bool is_return(std::uint64_t code) {
    const auto first = static_cast<std::uint8_t>(code),
               second = static_cast<std::uint8_t>(code >> 8);
    if (first == 0xf3 || first == 0xf2) return second == 0xc3;
    return first == 0xc3 || first == 0xc2;
  }

  void in_user_code() {
    const int taken = std::exchange(taken_, 0);
    if (in_user_code_) return;
    in_user_code_ = true;
    if (changes_ > 0) {
      ++arrivals;
      branches.push_back(taken);
      direct += changes_ == 1 ? 1 : 0;
      with_returns += returns_up_ > 0 ? 1 : 0;
      if (returns_up_ > worst) worst = returns_up_;
    }
    landing_ = 0;
    changes_ = returns_up_ = 0;
  }

  static constexpr std::uint64_t kLongestInstruction = 15;
  std::uint64_t last_rsp_ = 0, last_rip_ = 0, landing_ = 0;
  int changes_ = 0, returns_up_ = 0, taken_ = 0;
  bool in_user_code_ = false;
};

// Waits for a thread of the child's; -1: any, or the child itself. 0: there is none.
pid_t wait_for(pid_t thread, int* status) {
  pid_t who = 0;
  while ((who = ::waitpid(thread, status, __WALL)) < 0 && errno == EINTR) {
  }
  return who < 0 ? 0 : who;
}

// For good. False: it was not found, or may not be traced.
bool stop_sysmon(pid_t child) {
  const std::string folder = "/proc/" + std::to_string(child) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(folder)) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (name != "vole-sysmon") continue;
    const pid_t thread = std::stoi(task.path().filename().string());
    int status = 0;
    return ::ptrace(PTRACE_ATTACH, thread, nullptr, nullptr) == 0 &&
           wait_for(thread, &status) == thread && WIFSTOPPED(status);
  }
  return false;
}

// From SIGUSR1 to SIGUSR2. Empty: all went well.
std::string follow(pid_t thread, trace& t) {
  for (long i = 0; i < kAtMost; ++i) {
    user_regs_struct regs{};
    if (::ptrace(PTRACE_GETREGS, thread, nullptr, &regs) != 0)
      return std::string("PTRACE_GETREGS: ") + std::strerror(errno);
    const long code = ::ptrace(PTRACE_PEEKTEXT, thread, regs.rip, nullptr);
    t.step(regs.rip, regs.rsp, static_cast<std::uint64_t>(code));
    if (::ptrace(PTRACE_SINGLESTEP, thread, nullptr, nullptr) != 0)
      return std::string("PTRACE_SINGLESTEP: ") + std::strerror(errno);
    int status = 0;
    if (wait_for(thread, &status) != thread || !WIFSTOPPED(status))
      return "the child ended while it was traced";
    if (WSTOPSIG(status) == SIGUSR2) return "";
    if (WSTOPSIG(status) != SIGTRAP)
      return std::string("the child got ") + strsignal(WSTOPSIG(status));
  }
  return "too many instructions";
}

class child {
 public:
  child(void (*yields)(), void (*prepares)()) : pid_(::fork()) {
    if (pid_ == 0) be_traced(yields, prepares);
  }
  ~child() {
    ::kill(pid_, SIGKILL);
    for (int status = 0; wait_for(-1, &status) != 0;) {
    }
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// On one processor with the child: a step is two switches of the kernel's, and five times as fast
// if neither has to wake another processor.
class on_one_processor {
 public:
  on_one_processor() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(::sched_getcpu(), &here);
    ::sched_setaffinity(0, sizeof(here), &here);
  }
  ~on_one_processor() { ::sched_setaffinity(0, sizeof(before_), &before_); }
  on_one_processor(const on_one_processor&) = delete;
  on_one_processor& operator=(const on_one_processor&) = delete;

 private:
  cpu_set_t before_{};
};

constexpr int kNoMatter = 1000;
// Call, jump to the door, call and return of the decision, the last jump. How the code lies is the
// compiler's, and a checked build has calls of its own.
#if defined(__clang__) || defined(VOLE_CHECKED)
constexpr int kFewest = kNoMatter, kTwoMore = kNoMatter;
#else
constexpr int kFewest = 5, kTwoMore = 7;
#endif

// `branches`: at most so many are taken on the usual way.
void expect_no_returns(void (*yields)(), int switches, int branches = kNoMatter,
                       void (*prepares)() = nullptr) {
  if (vole_test::kSanitized) GTEST_SKIP() << "the sanitizer's hooks return where they like";
  const on_one_processor pinned;
  const child traced(yields, prepares);
  int status = 0;
  const pid_t thread = wait_for(-1, &status);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoTracing)
    GTEST_SKIP() << "tracing is not allowed here";
  ASSERT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1) << status;
  // It has its name when it has begun to run.
  ASSERT_TRUE(vole_test::eventually([&] { return stop_sysmon(traced.pid()); }));
  trace t;
  ASSERT_EQ(follow(thread, t), "");
  ASSERT_GE(t.arrivals, switches - 5);
  EXPECT_EQ(t.with_returns, 0) << "of " << t.arrivals << " ways; at worst " << t.worst;
  EXPECT_GE(t.direct, t.arrivals - 2) << "of " << t.arrivals;  // a request from before the tracing
  const auto usual = t.branches.begin() + static_cast<std::ptrdiff_t>(t.branches.size() / 2);
  std::nth_element(t.branches.begin(), usual, t.branches.end());
  EXPECT_LE(*usual, branches) << "taken";
}

TEST(DoorReturns, DoorJumpsToItsCaller) { expect_no_returns(&through_the_door, 2 * kYields); }  // [35]

TEST(DoorReturns, YieldIsNothingButTheDoor) {  // [35]
#ifndef NDEBUG
  GTEST_SKIP() << "a tail call only in optimised builds: one return is yield()'s own";
#endif
  expect_no_returns(&through_the_api, 2 * kYields, kFewest);
}

// Each parks every other time.
TEST(DoorReturns, SoIsAChannelThatParks) {  // [35]
#ifndef NDEBUG
  GTEST_SKIP() << "a tail call only in optimised builds";
#endif
  expect_no_returns(&through_a_channel, kYields, kFewest, &use_it_often);
}

// One that was used seldom, or by several Ps in turn: two jumps lead to who takes its lock.
TEST(DoorReturns, SoIsANewChannelThatParks) {  // [35]
#ifndef NDEBUG
  GTEST_SKIP() << "a tail call only in optimised builds";
#endif
  expect_no_returns(&through_a_channel, kYields, kTwoMore);
}

}  // namespace

#else

TEST(DoorReturns, DoorJumpsToItsCaller) { GTEST_SKIP() << "reads x86-64 instructions"; }

#endif
