// Traces of programs that die: killed, exited, or set up wrongly.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../api/trace_file.h"
#include "child.h"
#include "trace/recover.h"

namespace vole::crash_test {
namespace {

using vole_test::expect_good;
using vole_test::scratch;

// A child that says when it is at work, and is killed at some moment after that.
void kill_at_work(const std::string& ring, int microseconds) {
  int out[2];
  ASSERT_EQ(pipe(out), 0);
  const std::string program = crash_dir() + "/trace_child";
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 1);
    close(out[0]);
    execl(program.c_str(), program.c_str(), "ring", ring.c_str(), nullptr);
    _exit(99);
  }
  close(out[1]);
  char word[6] = {};
  EXPECT_GT(read(out[0], word, sizeof word), 0) << "the child does not work";
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  close(out[0]);
}

TEST(TraceCrash, WhatWasInTheRingIsRecovered) {
  if (emulated()) GTEST_SKIP() << "the child is started by hand";
  std::mt19937 random(std::random_device{}());
  const char* const asked = std::getenv("VOLE_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 5;
  for (int i = 0; i < kills && !testing::Test::HasFailure(); ++i) {
    const scratch ring("killed.ring"), file("killed.trace");
    kill_at_work(ring.path(), static_cast<int>(random() % 30'000));
    const std::vector<std::uint8_t> left = vole_trace::load(ring.path());
    const vole_trace::recovered r = vole_trace::recover({left.data(), left.size()});
    EXPECT_GT(r.events, 0u);
    std::ofstream(file.path(), std::ios::binary) << r.file;
    expect_good(file.path());
  }
}

TEST(TraceCrash, AnExitEndsTheTrace) {
  const scratch file("exit.trace");
  const ended r = run_child("trace_child", "exit", {"VOLE_TRACE=" + file.path(), "ASAN_OPTIONS=detect_leaks=0"});
  EXPECT_TRUE(exited(r, 0));
  EXPECT_GT(expect_good(file.path()).events, 100u);
}

TEST(TraceCrash, ARunEndsTheTrace) {
  const scratch file("run.trace");
  const ended r = run_child("trace_child", "run", {"VOLE_TRACE=" + file.path(), "VOLE_DEBUG=stacks=8"});
  EXPECT_TRUE(exited(r, 0));
  EXPECT_GT(expect_good(file.path()).events, 100u);
}

TEST(TraceCrash, APathThatCannotBeWrittenIsRefused) {
  const ended r = run_child("trace_child", "run", {"VOLE_TRACE=/nowhere/at/all"});
  EXPECT_TRUE(exited(r, 2));
  EXPECT_THAT(r.err, testing::HasSubstr("VOLE_TRACE=\"/nowhere/at/all\": cannot write there: No such file"));
}

}  // namespace
}  // namespace vole::crash_test
