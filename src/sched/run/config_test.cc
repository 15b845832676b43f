// What the environment may say: each value is understood or refused with a reason.

#include "sched/run/config.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace vole::rt {
namespace {

constexpr std::uint32_t kUntouched = 77;

TEST(Config, ReadsNumbersOfProcs) {  // [3]
  struct row {
    const char* text;
    std::uint32_t n;
  };
  for (const row& w : {row{"1", 1}, row{"2", 2}, row{"64", 64}, row{"1024", 1024}, row{"007", 7}}) {
    std::uint32_t n = kUntouched;
    EXPECT_EQ(parse_procs(w.text, &n), nullptr) << w.text;
    EXPECT_EQ(n, w.n) << w.text;
  }
}

TEST(Config, RefusesOtherProcsWithAReason) {
  for (const char* text : {"", "0", "-1", "+1", "1025", "4294967297", "18446744073709551617",
                           "99999999999999999999999999", "two", "2 ", " 2", "2.0", "1e2", "0x10"}) {
    std::uint32_t n = kUntouched;
    const char* const why = parse_procs(text, &n);
    ASSERT_NE(why, nullptr) << '"' << text << '"';
    EXPECT_STREQ(why, "must be a whole number from 1 to 1024");
    EXPECT_EQ(n, kUntouched) << text;
  }
}

TEST(Config, ReadsStackSizes) {
  struct row {
    const char* text;
    std::uint32_t bytes;
  };
  for (const row& w : {row{"16384", 16384}, row{"16K", 16384}, row{"64K", 65536},
                       row{"256K", 262144}, row{"1M", 1u << 20}, row{"8M", 8u << 20},
                       row{"1G", 1u << 30}, row{"1024M", 1u << 30}, row{"1048576K", 1u << 30}}) {
    std::uint32_t n = kUntouched;
    EXPECT_EQ(parse_stack_size(w.text, &n), nullptr) << w.text;
    EXPECT_EQ(n, w.bytes) << w.text;
  }
}

TEST(Config, RoundsStackSizesUp) {
  std::uint32_t n = 0;
  EXPECT_EQ(parse_stack_size("100001", &n), nullptr);
  EXPECT_GE(n, 100001u);
  EXPECT_LT(n, 2 * 100001u);
  EXPECT_EQ(n % 4096, 0u);
}

TEST(Config, RefusesOtherStackSizesWithAReason) {
  for (const char* text : {"", "0", "1", "16383", "15K", "1025M", "2G", "1073741825", "K", "M",
                           "1T", "64KB", "64k", "-64K", "+64K", "64 K", "64K ", "6.4M", "1e6",
                           "18014398509481984K", "99999999999999999999"}) {
    std::uint32_t n = kUntouched;
    EXPECT_NE(parse_stack_size(text, &n), nullptr) << '"' << text << '"';
    EXPECT_EQ(n, kUntouched) << text;
  }
}

TEST(Config, ReadsDebugSettings) {
  config c;
  EXPECT_EQ(parse_debug("", c).why, nullptr);
  EXPECT_TRUE(c.evict);
  EXPECT_EQ(c.storm_us, 0u);
  EXPECT_EQ(parse_debug("evict=0", c).why, nullptr);
  EXPECT_FALSE(c.evict);
  EXPECT_EQ(parse_debug("storm=10,evict=1", c).why, nullptr);
  EXPECT_TRUE(c.evict);
  EXPECT_EQ(c.storm_us, 10u);
  EXPECT_EQ(parse_debug("evict=1,storm=1000000", c).why, nullptr);
  EXPECT_EQ(c.storm_us, 1'000'000u);
  EXPECT_FALSE(c.strict);
  EXPECT_EQ(c.preempt_signal, 23u);
  EXPECT_EQ(parse_debug("strictprocs=1,preemptsignal=10", c).why, nullptr);
  EXPECT_TRUE(c.strict);
  EXPECT_EQ(c.preempt_signal, 10u);
  EXPECT_EQ(parse_debug("strictprocs=0,preemptsignal=64", c).why, nullptr);
  EXPECT_FALSE(c.strict);
  EXPECT_EQ(c.thread_idle_ms, 5000u);
  EXPECT_EQ(parse_debug("threadidle=0", c).why, nullptr);
  EXPECT_EQ(c.thread_idle_ms, 0u);
  EXPECT_EQ(parse_debug("threadidle=3600000", c).why, nullptr);
  EXPECT_EQ(c.thread_idle_ms, 3'600'000u);
}

TEST(Config, ReadsHowStacksAreGuarded) {
  config c;
  EXPECT_EQ(parse_debug("guards=mprotect", c).why, nullptr);
  EXPECT_TRUE(c.mprotect_guards);
  EXPECT_EQ(parse_debug("guards=auto", c).why, nullptr);
  EXPECT_FALSE(c.mprotect_guards);
  EXPECT_NE(parse_debug("guards=1", c).why, nullptr);
}

TEST(Config, ReadsWhatIsToBeReported) {
  config c;
  EXPECT_EQ(parse_debug("stall=100,leaks=1,sigquit=1,control=1,frames=all", c).why, nullptr);
  EXPECT_EQ(c.stall_ms, 100u);
  EXPECT_TRUE(c.leaks && c.sigquit && c.control && c.all_frames);
  EXPECT_EQ(parse_debug("stall=0,leaks=0,sigquit=0,control=0,frames=user", c).why, nullptr);
  EXPECT_EQ(c.stall_ms, 0u);
  EXPECT_FALSE(c.leaks || c.sigquit || c.control || c.all_frames);
}

TEST(Config, ReadsSchedtraceFromBothVariables) {
  config c;
  EXPECT_EQ(parse_debug("scheddetail=1,schedtrace=1000", c).why, nullptr);
  EXPECT_EQ(c.schedtrace_ms, 1000u);
  EXPECT_TRUE(c.scheddetail);

  config go;
  parse_go_debug("gctrace=1,,schedtrace=250,nonsense,scheddetail=1", go);
  EXPECT_EQ(go.schedtrace_ms, 250u);
  EXPECT_TRUE(go.scheddetail);
  EXPECT_EQ(parse_debug("schedtrace=50,scheddetail=0", go).why, nullptr) << "ours comes second";
  EXPECT_EQ(go.schedtrace_ms, 50u);
  EXPECT_FALSE(go.scheddetail);

  config untouched;
  for (const char* text : {"", ",", "schedtrace=", "schedtrace=x", "scheddetail=1", "evict=0",
                           "storm=50", "Schedtrace=10"})
    parse_go_debug(text, untouched);
  EXPECT_EQ(untouched.schedtrace_ms, 0u);
  EXPECT_FALSE(untouched.scheddetail);
  EXPECT_TRUE(untouched.evict) << "a Go program's key of the same name is not ours";
  EXPECT_EQ(untouched.storm_us, 0u);
}

TEST(Config, RefusesOtherDebugSettingsAndNamesTheKey) {
  struct row {
    const char *text, *key, *why;
  };
  for (const row& w :
       {row{"evict=2", "evict", "0 or 1"}, row{"evict=", "evict", "0 or 1"},
        row{"evict", "evict", "0 or 1"}, row{"evict=1 ", "evict", "0 or 1"},
        row{"evict=true", "evict", "0 or 1"}, row{"evict=-1", "evict", "0 or 1"},
        row{"storm=9", "storm", "10 to 1000000"}, row{"storm=1000001", "storm", "10 to 1000000"},
        row{"storm=99999999999999999999", "storm", "10 to 1000000"},
        row{"storm=1ms", "storm", "10 to 1000000"}, row{"storm=+50", "storm", "10 to 1000000"},
        row{"evict=0,storm=50", "storm", "evict=0 forbids"},
        row{"nonsense=1", "nonsense", "no such key"}, row{"evict=1,Evict=1", "Evict", "no such"},
        row{"evict=1, storm=50", " storm", "no such key"}, row{"nonsense", "nonsense", "evict=0|1"},
        row{"schedtrace=1s", "schedtrace", "milliseconds"},
        row{"schedtrace", "schedtrace", "milliseconds"},
        row{"schedtrace=3600001", "schedtrace", "up to 3600000"},
        row{"schedtrace=10,scheddetail=2", "scheddetail", "0 or 1"},
        row{"scheddetail=1", "scheddetail", "add schedtrace"},
        row{"scheddetail=1,schedtrace=0", "scheddetail", "add schedtrace"},
        row{"strictprocs=2", "strictprocs", "0 or 1"}, row{"strictprocs", "strictprocs", "0 or 1"},
        row{"strictprocs=1,evict=0", "strictprocs", "evict=0 forbids"},
        row{"preemptsignal=0", "preemptsignal", "may catch"},
        row{"preemptsignal=9", "preemptsignal", "may catch"},     // SIGKILL
        row{"preemptsignal=19", "preemptsignal", "may catch"},    // SIGSTOP
        row{"preemptsignal=11", "preemptsignal", "no fault"},     // SIGSEGV
        row{"preemptsignal=33", "preemptsignal", "may catch"},    // libc's own
        row{"preemptsignal=65", "preemptsignal", "may catch"},
        row{"preemptsignal=SIGURG", "preemptsignal", "the number"},
        row{"threadidle=3600001", "threadidle", "up to 3600000"},
        row{"threadidle=5s", "threadidle", "milliseconds"},
        row{"threadidle", "threadidle", "milliseconds"},
        row{"stall=1s", "stall", "milliseconds"}, row{"stall", "stall", "milliseconds"},
        row{"stall=3600001", "stall", "up to 3600000"}, row{"leaks=yes", "leaks", "0 or 1"},
        row{"leaks", "leaks", "0 or 1"}, row{"sigquit=2", "sigquit", "0 or 1"},
        row{"control=2", "control", "0 or 1"},
        row{"sigquit=", "sigquit", "0 or 1"}, row{"frames=1", "frames", "all or user"},
        row{"frames", "frames", "all or user"}, row{",", "", "single commas"},
        row{"evict=1,", "", "single commas"}, row{"evict=1,,storm=50", "", "key=value"},
        row{"=1", "", "key=value"}}) {
    config c;
    const complaint no = parse_debug(w.text, c);
    ASSERT_NE(no.why, nullptr) << w.text;
    EXPECT_EQ(no.key, w.key) << w.text;
    EXPECT_NE(std::string_view(no.why).find(w.why), std::string_view::npos) << no.why;
  }
}

// Each case in a child: the environment is the process's, and a refusal ends it.
struct Environment {
  const char* name;
  const char* value;
};
void read_with(std::initializer_list<Environment> set, std::uint32_t wanted_procs) {
  for (const char* name : {"VOLE_MAXPROCS", "GOMAXPROCS", "VOLE_STACK_SIZE", "GODEBUG", "VOLE_DEBUG"})
    ::unsetenv(name);
  for (const Environment& e : set) ::setenv(e.name, e.value, 1);
  config c;
  read_environment(c);
  std::_Exit(c.procs.load() == wanted_procs ? 0 : 1);
}

TEST(ConfigDeathTest, VoleMaxprocsComesBeforeGomaxprocs) {
  EXPECT_EXIT(read_with({}, 0), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(read_with({{"GOMAXPROCS", "5"}}, 5), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(read_with({{"VOLE_MAXPROCS", "3"}, {"GOMAXPROCS", "5"}}, 3),
              testing::ExitedWithCode(0), "");
}

TEST(ConfigDeathTest, RefusalNamesVariableAndValueAndExitsWithTwo) {
  EXPECT_EXIT(read_with({{"VOLE_MAXPROCS", "many"}}, 0), testing::ExitedWithCode(2),
              "VOLE_MAXPROCS=.*many.*: must be a whole number");
  EXPECT_EXIT(read_with({{"GOMAXPROCS", ""}}, 0), testing::ExitedWithCode(2), "GOMAXPROCS=.*: must");
  EXPECT_EXIT(read_with({{"VOLE_STACK_SIZE", "1"}}, 0), testing::ExitedWithCode(2),
              "VOLE_STACK_SIZE=.*1.*: must be a size");
  EXPECT_EXIT(read_with({{"VOLE_DEBUG", "storm=100,evict=yes"}}, 0), testing::ExitedWithCode(2),
              "VOLE_DEBUG=.storm=100,evict=yes.: evict: must be 0 or 1");
}

}  // namespace
}  // namespace vole::rt
