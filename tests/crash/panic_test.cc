// An exception that leaves a goroutine ends the program as a Go panic does: what, who, where from,
// the stack of the throw. One that somebody collects does not.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ended panic(const char* scenario) { return run_child("panic_child", scenario); }

// Lines between the goroutine's head and who made it, those with a file apart.
std::size_t frames_in(const std::string& text) {
  std::size_t n = 0;
  const std::size_t end = text.find("\ncreated by ");
  for (std::size_t at = text.find(" [running"); (at = text.find('\n', at)) < end; ++at)
    if (text[at + 1] != '\t') ++n;
  return n;
}

// The paragraph of the goroutine and the stack of the throw.
void expect_story(const ended& e) {
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("\n\ngoroutine [0-9]+.*\\[running.*\\]:\n"));
  EXPECT_THAT(e.err, ContainsRegex("\ncreated by (goroutine [0-9]+|a plain thread) in "));
  EXPECT_GE(frames_in(e.err), 1u) << e.err;  // the way to std::terminate is left out
}

// The stack of a throw that was caught in order to be handed on.
void expect_throw(const ended& e) {
  EXPECT_THAT(e.err, ContainsRegex("\n\nThe stack of the throw:\n([^\n]*\n)*"
                                   "[^\n]*thrower_in_the_child"));
  EXPECT_THAT(e.err, Not(HasSubstr("__cxa_throw\n")));
  EXPECT_THAT(e.err, Not(HasSubstr("_Unwind_")));
}

TEST(Panic, ExceptionTellsTypeTextAndStack) {
  const ended e = panic("error");
  EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n"));
  EXPECT_THAT(e.err, ContainsRegex("goroutine [0-9]+ \\(bomb\\) \\[running\\]:"));
  EXPECT_EQ(e.out, "");  // nothing has been unwound
  expect_story(e);
}

TEST(Panic, NumberTellsTypeAndValue) {
  const ended e = panic("number");
  EXPECT_THAT(e.err, StartsWith("panic: int: 7\n"));
  expect_story(e);
}

TEST(Panic, PlainTextIsShown) {
  const ended e = panic("text");
  EXPECT_THAT(e.err, StartsWith("panic: char const*: plain text\n"));
  expect_story(e);
}

TEST(Panic, LongTextDoesNotSwallowTheRest) {
  const ended e = panic("long_text");
  EXPECT_THAT(e.err, ContainsRegex("^panic: std::runtime_error: x+\n"));
  expect_story(e);
}

TEST(Panic, NoexceptFunctionOnAGoroutine) {
  const ended e = panic("through_noexcept");
  EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n"));
  expect_story(e);
}

TEST(Panic, TerminateOnAGoroutine) {
  const ended e = panic("terminate_called");
  EXPECT_THAT(e.err, StartsWith("panic: std::terminate was called"));
  expect_story(e);
}

TEST(Panic, InWaitGroupsGoAndInAnImplicitRuntime) {
  for (const char* scenario : {"in_wait_group", "implicit"}) {
    const ended e = panic(scenario);
    EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n"));
    expect_story(e);
  }
}

TEST(Panic, JoinHandleDestroyedWithAnException) {
  const ended e = panic("uncollected");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n"));
  EXPECT_THAT(e.err, ContainsRegex("goroutine [0-9]+ \\(main\\) \\[running\\]:"));
  EXPECT_EQ(e.out, "unwound\n");  // the spawned one was: its handle held the exception
  expect_throw(e);
}

TEST(Panic, UncollectedExceptionNamesThrowerAndJoiner) {
  const ended e = panic("uncollected_named");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n\nthrown by goroutine "));
  EXPECT_THAT(e.err, ContainsRegex("\nthrown by goroutine [0-9]+ \\(worker\\), created in "
                                   "[^\n]+\\. Nobody joined it: its join_handle was destroyed, or "
                                   "assigned to, by goroutine [0-9]+\\."));
  if (e.err.find("panic_child.cc:") != std::string::npos) {  // lines are known here
    EXPECT_THAT(e.err, ContainsRegex("created in [^\n]+ at [^\n]*panic_child\\.cc:[0-9]+\\. "));
  }
  EXPECT_THAT(e.err, ContainsRegex("\ngoroutine [0-9]+ \\[running\\]:\n"));  // the joiner
}

TEST(Panic, JoinHandleDestroyedOnAPlainThread) {
  const ended e = panic("uncollected_on_thread");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("\nthrown by goroutine [0-9]+, created in .*destroyed, or "
                                   "assigned to, on a plain thread\\."));
  EXPECT_THAT(e.err, HasSubstr("std::runtime_error"));
  EXPECT_THAT(e.err, HasSubstr("boom"));
}

TEST(Panic, NotWhileTheStackUnwindsAnyway) {
  const ended e = panic("uncollected_while_unwinding");
  EXPECT_TRUE(exited(e, 0));
  EXPECT_THAT(e.out, HasSubstr("another"));
  EXPECT_EQ(e.err, "");
}

TEST(Panic, NotOfADetachedGoroutine) { EXPECT_TRUE(exited(panic("detached"), 0)); }

TEST(Panic, NotOfMain) {
  const ended e = panic("leaves_main");
  EXPECT_TRUE(exited(e, 0));
  EXPECT_EQ(e.out, "unwound\nboom");
  EXPECT_EQ(e.err, "");
}

TEST(Panic, OfMainThatNobodyCatches) {
  for (const char* scenario : {"uncaught_from_main", "uncaught_from_main_on_thread"}) {
    const ended e = panic(scenario);
    EXPECT_TRUE(aborted(e));
    EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n\nthrown by goroutine "));
    EXPECT_THAT(e.err, ContainsRegex("\nthrown by goroutine [0-9]+ \\(main\\)\\. It left the "
                                     "function that vole::run\\(\\) was given"));
    expect_throw(e);
  }
}

// The stack is that of the goroutine that threw it, not of the join() that threw it on.
TEST(Panic, OfMainThatHasJoined) {
  for (const char* scenario : {"joined_by_main", "joined_by_main_again"}) {
    const ended e = panic(scenario);
    EXPECT_TRUE(aborted(e));
    expect_throw(e);
  }
}

TEST(Panic, OfMainThatHasWaitedForAGroup) {
  for (const char* scenario : {"grouped_by_main", "grouped_by_main_again"}) {
    const ended e = panic(scenario);
    EXPECT_TRUE(aborted(e));
    EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n"));
    expect_throw(e);
  }
}

// What a join() threw on and main caught has nothing to do with what leaves main later.
TEST(Panic, OfMainThatHasJoinedAndCaught) {
  const ended e = panic("caught_by_main_then_its_own");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, HasSubstr("The stack of the throw:\n"));
  EXPECT_THAT(e.err, Not(HasSubstr("thrower_in_the_child")));
}

TEST(Panic, OfMainComesBeforeTheUsersTerminateHandler) {
  const ended e = panic("terminate_from_main");
  EXPECT_TRUE(exited(e, 43));
  EXPECT_THAT(e.err, StartsWith("panic: std::runtime_error: boom\n\nthrown by goroutine "));
  EXPECT_THAT(e.out, HasSubstr("the user's terminate\n"));
}

TEST(Panic, NothingIsSaidOfMainOnceItIsCaught) {
  const ended e = panic("caught_from_main_then_another");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, HasSubstr("another"));
  EXPECT_THAT(e.err, Not(HasSubstr("thrown by goroutine")));
  EXPECT_THAT(e.err, Not(HasSubstr("boom")));
}

TEST(Panic, TypesHaveTheNamesThatUsersKnow) {
  EXPECT_THAT(panic("from_the_network").err, StartsWith("panic: std::system_error: dial tcp "));
  EXPECT_THAT(panic("from_a_closed_channel").err, StartsWith("panic: vole::channel_closed: "));
}

TEST(Panic, UsersTerminateHandlerIsBackAfterRun) {
  const ended e = panic("terminate_after_run");
  EXPECT_TRUE(exited(e, 43));
  EXPECT_EQ(e.out, "the user's terminate\n");
  EXPECT_THAT(e.err, Not(HasSubstr("panic")));
}

TEST(Panic, UsersTerminateHandlerServesPlainThreads) {
  const ended e = panic("terminate_on_thread");
  EXPECT_TRUE(exited(e, 43));
  EXPECT_THAT(e.err, Not(HasSubstr("panic")));
}

TEST(Panic, GoroutinesAreOursUnlessTheHandlerIsSetInside) {
  const ended ours = panic("terminate_on_goroutine");
  EXPECT_THAT(ours.err, StartsWith("panic: std::runtime_error: boom\n"));
  expect_story(ours);
  EXPECT_TRUE(exited(panic("terminate_set_inside"), 43));
}

// The last words have begun; run() returns, exit() or shutdown() is called on another thread.
TEST(Panic, WhoeverEndsTheProgramMeanwhileWaits) {
  for (const char* scenario : {"main_returns", "program_exits", "runtime_shut_down",
                               "main_returns_from_spawn"}) {
    const ended e = panic(scenario);
    EXPECT_THAT(e.err, ContainsRegex("^panic: .*slow_to_tell: slow\n")) << scenario;
    EXPECT_THAT(e.err, ContainsRegex("\ncreated by ")) << scenario;
    EXPECT_TRUE(aborted(e)) << scenario;
  }
}

TEST(Panic, MainThatReturnsWaitsForAFatalError) {
  EXPECT_TRUE(aborted(panic("main_returns_from_fatal")));
}

TEST(Panic, LastWordsThatCallVoleAtTheEndEndTheProgram) {
  const ended e = panic("last_words_enter_vole");
  constexpr int kTooLate = 77;  // the runtime had ended before it panicked
  if (WIFEXITED(e.status) && WEXITSTATUS(e.status) == kTooLate) return;
  EXPECT_TRUE(aborted(e));
}

TEST(Panic, SwallowedExitIsTold) {
  const ended e = panic("swallowed_exit");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("vole: fatal: goroutine [0-9]+ called exit_goroutine\\(\\), but "
                                   "a catch \\(\\.\\.\\.\\) did not rethrow"));
}

}  // namespace
}  // namespace vole::crash_test
