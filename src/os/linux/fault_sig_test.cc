#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>

#include "base/system.h"
#include "os/os.h"

namespace vole::os {
namespace {

void say(std::string_view text) noexcept { base::write_stderr(text.data(), text.size()); }

// A page without access: reading it is a SIGSEGV at that address.
std::byte* forbidden() {
  static std::byte* const page = reserve(page_size());
  return page;
}
void touch() { *static_cast<volatile std::byte*>(forbidden()); }

void on_fault(const fault& f) noexcept {
  say(f.address == forbidden() ? "hook\n" : "hook elsewhere\n");
}
void plain_handler(int) {
  say("plain\n");
  _exit(7);
}
void full_handler(int number, siginfo_t* info, void* context) {
  const bool right = info->si_addr == forbidden() && number == SIGSEGV && context != nullptr;
  say(right ? "full\n" : "wrong\n");
  _exit(8);
}

void set_handler(void (*plain)(int)) {
  struct sigaction a {};
  a.sa_handler = plain;
  sigaction(SIGSEGV, &a, nullptr);
}
void set_handler(void (*full)(int, siginfo_t*, void*)) {
  struct sigaction a {};
  a.sa_sigaction = full;
  a.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &a, nullptr);
}

class FaultDeathTest : public testing::Test {
 protected:
  void SetUp() override { set_handler(SIG_DFL); }  // sanitizers bring handlers of their own
};

TEST_F(FaultDeathTest, HookThenDefaultActionKills) {
  EXPECT_EXIT(
      {
        if (!install_fault_handler(on_fault)) _exit(1);
        touch();
      },
      testing::KilledBySignal(SIGSEGV), "^hook\n$");
}

TEST_F(FaultDeathTest, IgnoredFaultKillsAsTheKernelWould) {
  EXPECT_EXIT(
      {
        set_handler(SIG_IGN);
        install_fault_handler(on_fault);
        touch();
      },
      testing::KilledBySignal(SIGSEGV), "^hook\n$");
}

TEST_F(FaultDeathTest, PlainHandlerBeforeUsHasItsTurn) {
  EXPECT_EXIT(
      {
        set_handler(plain_handler);
        install_fault_handler(on_fault);
        touch();
      },
      testing::ExitedWithCode(7), "^hook\nplain\n$");
}

TEST_F(FaultDeathTest, SiginfoHandlerBeforeUsSeesTheAddress) {
  EXPECT_EXIT(
      {
        set_handler(full_handler);
        install_fault_handler(on_fault);
        touch();
      },
      testing::ExitedWithCode(8), "^hook\nfull\n$");
}

TEST_F(FaultDeathTest, RemovedHandlerIsGone) {
  EXPECT_EXIT(
      {
        set_handler(plain_handler);
        install_fault_handler(on_fault);
        remove_fault_handler();
        touch();
      },
      testing::ExitedWithCode(7), "^plain\n$");
}

TEST_F(FaultDeathTest, SentSignalSkipsTheHookAndStillKills) {
  EXPECT_EXIT(
      {
        install_fault_handler(on_fault);
        raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

TEST_F(FaultDeathTest, SentSignalThatWasIgnoredStaysIgnored) {
  EXPECT_EXIT(
      {
        set_handler(SIG_IGN);
        install_fault_handler(on_fault);
        raise(SIGSEGV);
        _exit(3);
      },
      testing::ExitedWithCode(3), "^$");
}

struct sigaction under_them;

void passing_handler(int number, siginfo_t* info, void* context) {
  say("theirs\n");
  under_them.sa_sigaction(number, info, context);
}

void lie_under_them() {
  set_handler(plain_handler);
  install_fault_handler(on_fault);
  struct sigaction theirs {};
  theirs.sa_sigaction = passing_handler;
  theirs.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &theirs, &under_them);
  remove_fault_handler();
}

// Somebody stands on top of us and calls us: we must neither remove them nor call in circles.
TEST_F(FaultDeathTest, LaterHandlerOfOthersStaysAndMayStillCallUs) {
  EXPECT_EXIT(
      {
        lie_under_them();
        struct sigaction now {};
        sigaction(SIGSEGV, nullptr, &now);
        if (now.sa_sigaction != passing_handler) _exit(1);
        touch();
      },
      testing::ExitedWithCode(7), "^theirs\nplain\n$");
  EXPECT_EXIT(
      {
        lie_under_them();
        install_fault_handler(on_fault);
        touch();
      },
      testing::ExitedWithCode(7), "^theirs\nhook\nplain\n$");
}

sigjmp_buf escape;

TEST(Fault, HandlerBeforeUsMayJumpOutAgainAndAgain) {
  struct sigaction before {};
  sigaction(SIGSEGV, nullptr, &before);
  struct sigaction jumping {};
  jumping.sa_handler = [](int) { siglongjmp(escape, 1); };
  sigaction(SIGSEGV, &jumping, nullptr);
  ASSERT_TRUE(install_fault_handler([](const fault&) noexcept {}));
  volatile int jumps = 0;
  if (sigsetjmp(escape, 1) != 0) jumps = jumps + 1;
  if (jumps < 3) touch();
  EXPECT_EQ(jumps, 3);
  remove_fault_handler();
  struct sigaction now {};
  sigaction(SIGSEGV, &before, &now);
  EXPECT_EQ(now.sa_handler, jumping.sa_handler);
}

TEST(AlternateStack, IsUsedGuardedAndGivenBack) {
  stack_t before{}, during{}, after{};
  sigaltstack(nullptr, &before);
  std::byte* memory = nullptr;
  ASSERT_TRUE(make_alternate_stack(&memory));
  sigaltstack(nullptr, &during);
  EXPECT_GE(during.ss_size, 64u * 1024);
  EXPECT_EQ(during.ss_sp, memory + page_size());
  drop_alternate_stack(memory);
  sigaltstack(nullptr, &after);
  EXPECT_EQ(after.ss_flags, before.ss_flags);
  EXPECT_EQ(after.ss_sp, before.ss_sp);
}

[[gnu::noinline]] int dive(int depth) {
  if (depth < 0) return 0;  // never: the stack ends before
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return dive(depth + 1) + frame[0];
}

TEST_F(FaultDeathTest, OverflowOfTheThreadsOwnStackReachesTheHook) {
  EXPECT_EXIT(
      {
        std::byte* memory = nullptr;
        if (!make_alternate_stack(&memory)) _exit(1);
        install_fault_handler([](const fault&) noexcept {
          say("overflow\n");
          _exit(9);
        });
        _exit(dive(0));
      },
      testing::ExitedWithCode(9), "^overflow\n$");
}

}  // namespace
}  // namespace vole::os
