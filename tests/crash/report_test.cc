// What is printed when something is wrong: stalls, leaks, SIGQUIT, who waits for whom.

#include "asks.h"
#include "child.h"

namespace vole::crash_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

ended report(const char* scenario, const char* debug) {
  return run_child("report_child", scenario, {std::string("VOLE_DEBUG=") + debug});
}

TEST(Stall, ALoopIsNamedWithItsStack) {
  for (const char* debug : {"stall=50", "stall=50,evict=0"}) {
    const ended e = report("stalls", debug);
    EXPECT_TRUE(exited(e, 0));
    EXPECT_THAT(e.out, ContainsRegex(
                           "vole: goroutine [0-9]+ \\(stuck\\) has not yielded for [0-9]+ ms:\n"));
    EXPECT_THAT(e.out, HasSubstr(kAsks ? "never_yields()\n" : "did not say where"));
    EXPECT_THAT(e.out, HasSubstr("created by goroutine 1 in "));
  }
}

TEST(Sigquit, PrintsTheDumpWhileEveryPSpins) {
  const ended e = report("sigquit", "sigquit=1");
  EXPECT_TRUE(exited(e, 0));
  EXPECT_THAT(e.out, ContainsRegex("vole: SIGQUIT: [0-9]+ goroutines\n\n"));
  EXPECT_THAT(e.out, ContainsRegex("\\(parked\\) \\[waiting, sleep"));
}

TEST(Sigquit, ByTheCallAtAnyTimeAndTheProgramsHandlerHasItsTurn) {
  EXPECT_TRUE(exited(run_child("report_child", "sigquit_by_call"), 0));
}

TEST(Sigquit, TheReporterIsNoHopeInADeadlock) {
  const ended e = report("sigquit_and_deadlock", "sigquit=1,stall=50");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, StartsWith("vole: fatal: all goroutines are asleep - deadlock!"));
}

TEST(Leaks, WhoIsLeftIsListedWithWhereItWaitsAndWasMade) {
  const ended e = report("leaks", "leaks=1");
  EXPECT_TRUE(exited(e, 0));
  EXPECT_THAT(e.err, StartsWith("vole: leaks: 4 goroutines are left at the end of run()\n\n"));
  EXPECT_THAT(e.err,
              ContainsRegex("\n3 goroutines \\([0-9, ]+\\) \\(lost\\) \\[waiting, chan receive"));
  EXPECT_THAT(e.err, HasSubstr("waits_for_nothing("));
  EXPECT_THAT(e.err, ContainsRegex("\\(sleeper\\) \\[waiting, sleep"));
  EXPECT_THAT(e.err, Not(HasSubstr("(main)")));
  EXPECT_EQ(e.out, "after run\n");
}

TEST(Leaks, NobodyLeftIsNoReport) {
  const ended e = report("leaks_nothing", "leaks=1");
  EXPECT_TRUE(exited(e, 0));
  EXPECT_THAT(e.err, IsEmpty());
}

// A report of a deadlock, and in it who waits for whom. Of the same program with -O2, too.
void expect_circle(const char* scenario, const char* circle) {
  for (const char* child : {"report_child", "report_o2_child"}) {
    const ended e = run_child(child, scenario);
    EXPECT_TRUE(aborted(e));
    EXPECT_THAT(e.err,
                StartsWith("vole: fatal: all goroutines are asleep - deadlock!\n\n"
                           "These goroutines wait for each other, and none of them can go on:\n"
                           "goroutine "))
        << child;
    EXPECT_THAT(e.err, ContainsRegex(circle)) << child;
  }
}

TEST(Circle, OfTwoMutexesIsNamed) {
  expect_circle("two_mutexes",
                "\ngoroutine [0-9]+ \\([ab]+\\) waits for mutex 0x[0-9a-f]+, probably held by "
                "goroutine [0-9]+ \\([ab]+\\), which waits for mutex 0x[0-9a-f]+, probably held "
                "by goroutine [0-9]+ \\([ab]+\\)\n\n");
}

TEST(Circle, OfTwoMutexesOnTheHeapIsNamed) {
  expect_circle("two_heap_mutexes",
                "\ngoroutine [0-9]+ \\([ab]+\\) waits for mutex 0x[0-9a-f]+, probably held by "
                "goroutine [0-9]+ \\([ab]+\\), which waits for mutex 0x[0-9a-f]+, probably held "
                "by goroutine [0-9]+ \\([ab]+\\)\n\n");
}

TEST(Circle, OfWhoLocksTwiceIsNamed) {
  expect_circle("locked_twice",
                "\ngoroutine ([0-9]+) \\(twice\\) waits for mutex 0x[0-9a-f]+, probably held by "
                "itself: goroutine [0-9]+ \\(twice\\)\n\n");
  expect_circle("written_twice",
                "\ngoroutine 1 \\(main\\) waits for shared mutex 0x[0-9a-f]+, probably held by "
                "itself: goroutine 1 \\(main\\)\n\n");
}

TEST(Holder, OfAPlainThreadIsNoGoroutine) {
  const ended e = run_child("report_child", "locked_by_a_thread");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("\\[waiting, mutex, .*on 0x[0-9a-f]+, held by a plain thread, or "
                                   "by a goroutine that has ended\\]"));
}

TEST(Waits, OfAJoinAndASelectSayForWhat) {
  const ended e = run_child("report_child", "joins_and_selects");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, ContainsRegex("goroutine 1 \\(main\\) \\[waiting, join of goroutine 2"));
  EXPECT_THAT(e.err,
              ContainsRegex("goroutine 2 \\[waiting, select, .*on 0x[0-9a-f]+ \\| 0x[0-9a-f]+\\]"));
}

TEST(Circle, OfAJoinUnderALockIsNamed) {
  expect_circle("join_under_a_lock",
                "goroutine 1 \\(main\\) joins goroutine [0-9]+, which waits "
                "for mutex 0x[0-9a-f]+, probably held by goroutine 1 \\(main\\)\n");
}

TEST(Circle, OfAWaitGroupUnderALockIsNamed) {
  expect_circle("group_under_a_lock",
                "goroutine 1 \\(main\\) waits for wait group 0x[0-9a-f]+, which counts goroutine "
                "[0-9]+, which waits for mutex 0x[0-9a-f]+, probably held by goroutine 1");
}

TEST(Circle, WhoeverWaitsForAValueIsInNone) {
  const ended e = run_child("report_child", "no_circle");
  EXPECT_TRUE(aborted(e));
  EXPECT_THAT(e.err, Not(HasSubstr("wait for each other")));
  EXPECT_THAT(
      e.err, ContainsRegex("\\[waiting, mutex.*, on 0x[0-9a-f]+, probably held by goroutine 1\\]"));
}

}  // namespace
}  // namespace vole::crash_test
