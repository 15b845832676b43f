// Other programs: process::run, process::start.
//
//     auto [output, status, errors] = vole::process::run({"git", "rev-parse", "HEAD"});
//     if (!status.success()) std::printf("git: %s: %s", status.to_string().c_str(), errors.c_str());
//
// A goroutine that waits for a program parks: the kernel tells the poller when it has ended (a pidfd,
// Linux 5.3), and its pipes are polled. (Where there is no pidfd, the wait for its end takes a
// thread, in blocking().) A program that was started is always reaped, so that no zombie is left.
// Nothing of this program but the standard streams is inherited, unless others opened descriptors
// without O_CLOEXEC.
//
// The command is looked for in PATH if it has no '/'. There is no shell: write {"sh", "-c", "…"} if
// you want one. That it cannot be run (no such file, no permission) is a std::system_error; that it
// ran and failed is its status. Each function has a twin with a last std::error_code& that does not
// throw std::system_error.
//
// SIGCHLD must not be ignored, and nobody else may wait for every child (waitpid(-1)): its end could
// not be told; that is std::errc::no_child_process.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <vole/context.h>
#include <vole/detail/access.h>
#include <vole/net_conn.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {
class child_state;  // src/process/child.cc
}

namespace process {

// How a program ended.
class exit_status {
 public:
  constexpr exit_status() noexcept = default;  // success
  constexpr exit_status(int code, int signal) noexcept : code_(code), signal_(signal) {}

  constexpr bool success() const noexcept { return code_ == 0; }
  constexpr int exit_code() const noexcept { return code_; }  // -1: a signal has ended it
  constexpr int signal() const noexcept { return signal_; }   // 0: none did
  std::string to_string() const;                              // "exit status 1", "signal 9 (Killed)"

  friend constexpr bool operator==(const exit_status&, const exit_status&) noexcept = default;
  friend constexpr bool operator==(const exit_status& s, int code) noexcept {
    return s.code_ == code;
  }

 private:
  int code_ = 0;
  int signal_ = 0;
};

// Where one of its standard streams goes.
enum class stream : unsigned char {
  pipe,     // run: from options.input, to result.output and result.errors. start: a conn
  inherit,  // this program's own
  null,     // /dev/null
};

// How a program is started.
struct options {
  std::string input = {};      // run: what it reads, and then the end
  std::string directory = {};  // where it runs; empty: here
  // "NAME=value": beside this program's own, or instead.
  std::vector<std::string> environment = {};
  bool clear_environment = false;
  stream in = stream::pipe, out = stream::pipe, err = stream::pipe;
  bool merge_errors = false;  // standard error goes where standard output does
  bool own_group = false;     // a process group of its own; what kills it kills the group
  // run: more output, or more errors, than this end it: errc::too_long.
  std::size_t limit = std::numeric_limits<std::size_t>::max();
};

// What came of it.
struct result {
  std::string output;
  exit_status status;
  std::string errors;
};

// A program that was started. Destroying it kills and reaps one that still runs. Movable. Any
// goroutine may wait, kill and use the streams at any time.
class child {
 public:
  child() noexcept;  // empty
  child(child&& other) noexcept;
  child& operator=(child&& other) noexcept;
  ~child();

  explicit operator bool() const noexcept { return state_ != nullptr; }  // not empty
  pid_t pid() const noexcept;                                            // -1: empty

  // Its standard streams, those that are pipes; the others are empty. A program that reads to the
  // end waits until in() is closed; one that writes much waits until out() and err() are read.
  net::conn& in() noexcept { return in_; }
  net::conn& out() noexcept { return out_; }
  net::conn& err() noexcept { return err_; }

  // Until it has ended; any number of times. A context ends the wait and not the program. Empty:
  // errc::closed.
  exit_status wait();
  exit_status wait(std::error_code& error);
  exit_status wait(const context& ctx);
  exit_status wait(const context& ctx, std::error_code& error);

  // False: it has ended and wait() has said so, or the kernel refused.
  bool kill(int signal = SIGKILL) noexcept;

 private:
  friend struct detail::access;
  child(std::shared_ptr<detail::child_state> s, net::conn in, net::conn out,
        net::conn err) noexcept;

  std::shared_ptr<detail::child_state> state_;
  net::conn in_, out_, err_;
};

using command = std::vector<std::string>;

// Runs it to its end, and until its output has ended: what it has started and left behind may hold
// that open. When the context is done, it is killed and reaped; the error is the context's, and the
// twin returns the output that had come.
result run(const command& c, const options& o = {});
result run(const command& c, const context& ctx);
result run(const command& c, const options& o, const context& ctx);
result run(const command& c, std::error_code& error);
result run(const command& c, const options& o, std::error_code& error);
result run(const command& c, const context& ctx, std::error_code& error);
result run(const command& c, const options& o, const context& ctx, std::error_code& error);

// Starts it and returns.
[[nodiscard]] child start(const command& c, const options& o = {});
[[nodiscard]] child start(const command& c, std::error_code& error);
[[nodiscard]] child start(const command& c, const options& o, std::error_code& error);

}  // namespace process
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
