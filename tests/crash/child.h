// Runs a child program and hears its last words.
//
// Who    the tests in this directory. The children are built from *_child.cc beside
//        them and lie in VOLE_CRASH_DIR, or in what the variable VOLE_TEST_CRASH_DIR says
//        (tools/mutants).
// Law    a child that does not end in time is killed and reported as hung: no test
//        here waits for ever. It leaves no core file, and of vole's environment
//        variables it sees only those that the test gives it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef VOLE_CRASH_RUNNER
#define VOLE_CRASH_RUNNER ""
#endif

#if defined(__has_feature)
#define VOLE_CRASH_HAS(x) __has_feature(x)
#else
#define VOLE_CRASH_HAS(x) 0
#endif

namespace vole::crash_test {

#if defined(__SANITIZE_ADDRESS__) || VOLE_CRASH_HAS(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__) || VOLE_CRASH_HAS(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

// An emulator stands between the child and the kernel: limits on memory are then its own.
inline bool emulated() { return std::string_view(VOLE_CRASH_RUNNER) != ""; }

struct ended {
  int status = 0;     // as waitpid gives it
  bool hung = false;  // killed by us after kPatience
  std::string out, err;
};

inline constexpr std::chrono::seconds kPatience{100};

namespace detail {

inline std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end != 0) all.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

inline std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    if (!entry.starts_with("VOLE_") && !entry.starts_with("GOMAXPROCS=") &&
        !entry.starts_with("GODEBUG="))
      all.emplace_back(entry);
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& t : texts) all.push_back(t.data());
  all.push_back(nullptr);
  return all;
}

// In the forked child: nothing but system calls.
[[noreturn]] inline void become(char** argv, char** envp, int out, int err) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execve(argv[0], argv, envp);
  static constexpr char kSorry[] = "child.h: cannot execute the child\n";
  if (write(STDERR_FILENO, kSorry, sizeof kSorry - 1) < 0) _exit(126);
  _exit(127);
}

// Reads both pipes to their ends. False: that took too long.
inline bool listen(int out, int err, ended* e) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  pollfd both[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  while (both[0].fd >= 0 || both[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (poll(both, 2, static_cast<int>(left.count())) <= 0) continue;
    for (pollfd& one : both) {
      if (one.fd < 0 || one.revents == 0) continue;
      char text[4096];
      const ssize_t n = read(one.fd, text, sizeof text);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        one.fd = -1;
      } else {
        (&one == both ? e->out : e->err).append(text, static_cast<std::size_t>(n));
      }
    }
  }
  return true;
}

inline std::string describe(const ended& e) {
  std::string how = "exited with " + std::to_string(WEXITSTATUS(e.status));
  if (WIFSIGNALED(e.status)) how = std::string("killed by ") + strsignal(WTERMSIG(e.status));
  if (e.hung) how = "hung";
  return how + "\n--- stdout\n" + e.out + "--- stderr\n" + e.err + "---";
}

}  // namespace detail

inline std::string crash_dir() {
  const char* const another = std::getenv("VOLE_TEST_CRASH_DIR");
  return another != nullptr ? another : VOLE_CRASH_DIR;
}

// Runs <program> <scenario> with `environment` ("NAME=value") added.
inline ended run_child(const std::string& program, const std::string& scenario,
                       const std::vector<std::string>& environment = {}) {
  ended e;
  std::vector<std::string> arguments = detail::words(VOLE_CRASH_RUNNER);
  arguments.push_back(crash_dir() + "/" + program);
  arguments.push_back(scenario);
  std::vector<std::string> variables = detail::environment_with(environment);
  const std::vector<char*> argv = detail::pointers(arguments);
  const std::vector<char*> envp = detail::pointers(variables);
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "pipe2: " << strerror(errno);
    return e;
  }
  const pid_t pid = fork();
  if (pid == 0)
    detail::become(const_cast<char**>(argv.data()), const_cast<char**>(envp.data()), out[1],
                   err[1]);
  close(out[1]);
  close(err[1]);
  e.hung = !detail::listen(out[0], err[0], &e);
  close(out[0]);
  close(err[0]);
  if (e.hung) kill(pid, SIGKILL);
  while (waitpid(pid, &e.status, 0) < 0 && errno == EINTR) {
  }
  return e;
}

// How it ended, with all it said if that was otherwise.
inline testing::AssertionResult exited(const ended& e, int code) {
  if (!e.hung && WIFEXITED(e.status) && WEXITSTATUS(e.status) == code)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "should exit with " << code << ", but " << detail::describe(e);
}

inline testing::AssertionResult killed(const ended& e, int signal) {
  if (!e.hung && WIFSIGNALED(e.status) && WTERMSIG(e.status) == signal)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "should die by " << strsignal(signal) << ", but " << detail::describe(e);
}

inline testing::AssertionResult aborted(const ended& e) { return killed(e, SIGABRT); }

}  // namespace vole::crash_test
