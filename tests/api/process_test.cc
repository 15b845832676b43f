// process::run and process::start: streams, statuses, contexts; no zombie and no descriptor is left.

#include <vole/process.h>
#include <vole/vole.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "fixture.h"
#include "parked.h"

namespace {

using namespace std::chrono_literals;
using vole::errc;
namespace process = vole::process;

bool has_children() {
  siginfo_t about{};
  return waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

class Process : public vole_test::Runtime {
 protected:
  void TearDown() override {
    Runtime::TearDown();
    EXPECT_FALSE(has_children()) << "a child was left";
  }
};
VOLE_AT_1_2_4_PROCS(Process);

std::string what_of(auto call) {
  try {
    call();
  } catch (const std::system_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_P(Process, GivesOutputErrorsAndStatus) {
  run([] {
    const auto [output, status, errors] =
        process::run({"sh", "-c", "echo out; echo err >&2; exit 3"});
    EXPECT_EQ(output, "out\n");
    EXPECT_EQ(errors, "err\n");
    EXPECT_FALSE(status.success());
    EXPECT_EQ(status.exit_code(), 3);
    EXPECT_EQ(status.signal(), 0);
    EXPECT_EQ(status, 3);
    EXPECT_EQ(status.to_string(), "exit status 3");
    EXPECT_TRUE(process::run({"true"}).status.success());
  });
}

TEST_P(Process, ASignalIsAStatus) {
  run([] {
    const process::exit_status s = process::run({"sh", "-c", "kill -9 $$"}).status;
    EXPECT_FALSE(s.success());
    EXPECT_EQ(s.exit_code(), -1);
    EXPECT_EQ(s.signal(), SIGKILL);
    EXPECT_EQ(s.to_string(), "signal 9 (Killed)");
  });
}

TEST_P(Process, InputAndOutputLargerThanAnyPipe) {
  run([] {
    std::string much(1'000'000, '\0');
    for (std::size_t i = 0; i < much.size(); ++i) much[i] = static_cast<char>(i * 13 >> 2);
    const process::result r =
        process::run({"sh", "-c", "tee /dev/stderr"}, {.input = much});
    EXPECT_TRUE(r.output == much);
    EXPECT_TRUE(r.errors == much);
  });
}

TEST_P(Process, InputThatNobodyReads) {
  run([] {
    const process::result r = process::run({"true"}, {.input = std::string(1'000'000, 'x')});
    EXPECT_TRUE(r.status.success()) << "and no SIGPIPE";
  });
}

TEST_P(Process, ErrorsGoWithTheOutputIfTheyShall) {
  run([] {
    const process::result r = process::run(
        {"sh", "-c", "echo one; echo two >&2; echo three"}, {.merge_errors = true});
    EXPECT_EQ(r.output, "one\ntwo\nthree\n");
    EXPECT_EQ(r.errors, "");
  });
}

TEST_P(Process, DirectoryAndEnvironment) {
  run([] {
    EXPECT_EQ(process::run({"pwd"}, {.directory = "/usr"}).output, "/usr\n");
    setenv("VOLE_TEST_A", "ours", 1);
    const process::command show{"sh", "-c", "echo $VOLE_TEST_A $VOLE_TEST_B"};
    EXPECT_EQ(process::run(show).output, "ours\n");
    EXPECT_EQ(process::run(show, {.environment = {"VOLE_TEST_B=b", "VOLE_TEST_A=theirs"}}).output,
              "theirs b\n");
    EXPECT_EQ(process::run({"env"}, {.environment = {"A=1", "A=2"}, .clear_environment = true}).output,
              "A=2\n");
    unsetenv("VOLE_TEST_A");
  });
}

TEST_P(Process, StreamsToNowhereAndInherited) {
  run([] {
    const process::result r = process::run(
        {"sh", "-c", "cat; echo out; echo err >&2"},
        {.in = process::stream::null, .out = process::stream::null});
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.errors, "err\n");
    int fds[2];
    ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
    const int was = fcntl(2, F_DUPFD_CLOEXEC, 10);
    dup2(fds[1], 2);
    const auto status = process::run({"sh", "-c", "echo inherited >&2; echo merged"},
                                     {.out = process::stream::pipe, .err = process::stream::inherit})
                            .status;
    dup2(was, 2);
    ::close(was);
    ::close(fds[1]);
    EXPECT_TRUE(status.success());
    char text[64];
    const ssize_t n = ::read(fds[0], text, sizeof(text));
    ::close(fds[0]);
    EXPECT_EQ(std::string(text, static_cast<std::size_t>(n)), "inherited\n");
  });
}

TEST_P(Process, OutputHasALimit) {
  run([] {
    std::error_code error;
    const process::result r =
        process::run({"sh", "-c", "yes"}, {.limit = 1000}, error);
    EXPECT_EQ(error, errc::too_long);
    EXPECT_EQ(r.output.size(), 1000u);
    EXPECT_EQ(r.status.signal(), SIGKILL);
    EXPECT_EQ(process::run({"printf", "1234"}, {.limit = 4}).output, "1234") << "exactly so many";
  });
}

TEST_P(Process, WhatCannotRunIsAClearError) {
  run([] {
    EXPECT_EQ(what_of([] { process::run({"vole-no-such-command"}); }),
              "run vole-no-such-command: no such command in PATH");
    EXPECT_EQ(what_of([] { (void)process::start({"/nowhere/x"}); }),
              "start /nowhere/x: no such file or directory");
    EXPECT_EQ(what_of([] { process::run({"/etc/passwd"}); }),
              "run /etc/passwd: permission denied");
    EXPECT_EQ(what_of([] { process::run({"true"}, {.directory = "/nowhere"}); }),
              "run true: directory /nowhere: no such file or directory");
    EXPECT_EQ(what_of([] { process::run({}, process::options{}); }),
              "run a program: the command is empty");
    EXPECT_EQ(what_of([] { process::run({"true"}, {.environment = {"NOVALUE"}}); }),
              "run true: environment: \"NOVALUE\" is not of the form NAME=value");
    EXPECT_EQ(what_of([] { process::run({"true", std::string("a\0b", 3)}); }),
              "run true: an argument contains a NUL character");
    std::error_code error;
    EXPECT_FALSE(process::start({"vole-no-such-command"}, error));
    EXPECT_EQ(error, std::errc::no_such_file_or_directory);
    process::run({"true"}, error);
    EXPECT_FALSE(error) << "cleared on success";
  });
}

TEST_P(Process, AContextKillsAndReaps) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    std::error_code error;
    auto runner = vole::spawn([&, ctx = ctx] {
      return process::run({"sh", "-c", "echo begun; exec sleep 1000"}, {}, ctx, error);
    });
    vole_test::wait_until_parked(1, "IO wait");
    cancel();
    const process::result r = runner.join();
    EXPECT_EQ(error, errc::canceled);
    EXPECT_EQ(r.status.signal(), SIGKILL);
    EXPECT_TRUE(r.output == "begun\n" || r.output.empty()) << r.output;
    EXPECT_FALSE(has_children());
    EXPECT_EQ(what_of([&, ctx = ctx] { process::run({"true"}, ctx); }),
              "run true: canceled: the runtime stopped or the context was cancelled");
  });
}

TEST_P(Process, ADeadlineKills) {
  run([] {
    auto [ctx, cancel] = vole::with_timeout(vole::context::background(), 5ms);
    std::error_code error;
    process::run({"sleep", "1000"}, ctx, error);
    EXPECT_EQ(error, errc::deadline_exceeded);
    EXPECT_FALSE(has_children());
  });
}

// The shell's own child holds the output open. A group of its own dies as one.
TEST_P(Process, AGroupDiesAsOne) {
  run([] {
    auto [ctx, cancel] = vole::with_cancel(vole::context::background());
    int ours[2];
    ASSERT_EQ(pipe(ours), 0);  // inherited: its end shows that everybody is gone
    auto runner = vole::spawn([&, ctx = ctx] {
      std::error_code error;
      process::run({"sh", "-c", "sleep 1000 & wait"}, {.own_group = true}, ctx, error);
      return error;
    });
    vole_test::wait_until_parked(1, "IO wait");
    ::close(ours[1]);
    cancel();
    EXPECT_EQ(runner.join(), errc::canceled);
    EXPECT_TRUE(vole::wait_readable(ours[0]));
    char c;
    EXPECT_EQ(::read(ours[0], &c, 1), 0);
    ::close(ours[0]);
  });
}

TEST_P(Process, StartedOnesTalk) {
  run([] {
    process::child c = process::start({"cat"});
    EXPECT_TRUE(c);
    EXPECT_GT(c.pid(), 0);
    c.in().write("hello\n");
    vole::io::reader lines(c.out());
    std::string line;
    EXPECT_TRUE(lines.read_line(line));
    EXPECT_EQ(line, "hello");
    auto [ctx, cancel] = vole::with_timeout(vole::context::background(), 2ms);
    std::error_code error;
    c.wait(ctx, error);
    EXPECT_EQ(error, errc::deadline_exceeded) << "the wait ends, the program does not";
    c.in().close();
    EXPECT_TRUE(c.wait().success());
    EXPECT_TRUE(c.wait().success()) << "any number of times";
    EXPECT_FALSE(c.kill()) << "its number may be somebody else's by now";
  });
}

TEST_P(Process, SeveralWaitForOne) {
  run([] {
    process::child c = process::start({"sleep", "1000"});
    vole::wait_group all;
    for (int i = 0; i < 5; ++i) all.go([&] { EXPECT_EQ(c.wait().signal(), SIGTERM); });
    vole_test::wait_until_parked(5, "IO wait");
    EXPECT_TRUE(c.kill(SIGTERM));
    all.wait();
  });
}

TEST_P(Process, DestroyedOnesAreKilled) {
  run([] {
    {
      process::child c = process::start({"sleep", "1000"});
      process::child d = process::start({"sleep", "1000"});
      c = std::move(d);
      EXPECT_FALSE(d);  // NOLINT(bugprone-use-after-move)
      EXPECT_EQ(d.pid(), -1);
      std::error_code error;
      d.wait(error);
      EXPECT_EQ(error, errc::closed);
    }
    EXPECT_FALSE(has_children());
  });
}

TEST_P(Process, ManyAtOnce) {
  run([] {
    vole::wait_group all;
    for (int i = 0; i < 20; ++i)
      all.go([i] { EXPECT_EQ(process::run({"sh", "-c", "exit " + std::to_string(i)}).status, i); });
    all.wait();
  });
}

TEST_P(Process, OnAPlainThread) {
  std::thread([] { EXPECT_EQ(process::run({"echo", "plain"}).output, "plain\n"); }).join();
}

// The standard streams may be closed here: pipes then get their numbers.
TEST_P(Process, WithoutStandardStreamsOfItsOwn) {
  run([] {
    int was[3];
    for (int i = 0; i < 3; ++i) was[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    for (int i = 0; i < 3; ++i) ::close(i);
    process::result r;
    std::error_code error;
    r = process::run({"sh", "-c", "cat; echo err >&2"}, {.input = "in"}, error);
    for (int i = 0; i < 3; ++i) dup2(was[i], i);
    for (const int fd : was) ::close(fd);
    EXPECT_FALSE(error);
    EXPECT_EQ(r.output, "in");
    EXPECT_EQ(r.errors, "err\n");
  });
}

// The runtime ends while one runs: it is killed, and reaped by who next starts one.
TEST_P(Process, AbandonedOnesAreKilled) {
  static const process::command sleeps{"sleep", "1000"};  // in the frame it would be lost with it
  vole::run([] {
    vole::go([] { process::run(sleeps); });
    vole_test::wait_until_parked(1, "IO wait");
  });
  EXPECT_TRUE(vole_test::eventually([] {
    process::run({"true"});
    return !has_children();
  }));
}

}  // namespace
