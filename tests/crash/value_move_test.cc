// A value's move, or the destructor of what it left behind, that would wait or wake: a sentence that
// names the rule, on goroutines and on plain threads, never a hang.

#include "child.h"

namespace vole::crash_test {
namespace {

using testing::StartsWith;

void expect_refused(const std::string& way, std::initializer_list<const char*> acts) {
  for (const char* act : acts) {
    const std::string scenario = way + "." + act;
    const ended e = run_child("value_move_child", scenario);
    EXPECT_TRUE(aborted(e)) << scenario;
    EXPECT_THAT(e.err,
                StartsWith("vole: fatal: chan: the move constructor of a value in a channel, "
                           "or the destructor of what it left behind, called vole"))
        << scenario;
  }
}

TEST(ValueMove, MayNotWaitOnAGoroutine) {
  expect_refused("goroutine.send", {"lock", "lock_shared", "acquire", "call_once", "recv",
                                    "recv_nil", "select_nothing", "yield", "sleep", "blocking"});
}

TEST(ValueMove, MayNotWakeOnAGoroutine) {
  expect_refused("goroutine.send", {"unlock", "release", "done", "notify", "send", "try_send",
                                    "close", "select", "go", "cancel"});
}

TEST(ValueMove, MayNotStopTheWorldOnAGoroutine) {
  expect_refused("goroutine.send", {"set_max_procs", "dump", "stats", "exit_goroutine"});
}

TEST(ValueMove, MayNotWaitOnAThread) {
  expect_refused("thread.send", {"lock", "lock_shared", "acquire", "call_once", "recv", "recv_nil",
                                 "select_nothing", "sleep", "run", "shutdown"});
}

TEST(ValueMove, MayNotWakeOnAThread) {
  expect_refused("thread.send", {"unlock", "release", "done", "notify", "send", "try_send", "close",
                                 "select", "go", "set_max_procs", "dump"});
}

TEST(ValueMove, SelectMovesInTheSameWay) {
  expect_refused("goroutine.select", {"lock", "unlock", "send"});
  expect_refused("thread.select", {"lock", "unlock", "send"});
}

TEST(ValueMove, SoDoesTheDestructorOfWhatIsLeft) {
  expect_refused("goroutine.leave", {"lock", "unlock", "send"});
  expect_refused("thread.leave", {"lock", "unlock", "send"});
}

}  // namespace
}  // namespace vole::crash_test
