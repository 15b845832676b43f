// The control socket (VOLE_DEBUG=control=1): `vole trace record` and others ask, a plain thread
// answers. A request is a line, the answer "ok" or "error: …" on a line of its own, then text up to
// the end of the connection:
//
//     version            which vole this is
//     dump               every goroutine, as dump_goroutines prints it
//     metrics            as vole::metrics()
//     trace SECONDS      into the file that is passed along (SCM_RIGHTS); the answer comes at the end
//
// Who    sched/run/boot.cc, by sched/run/control_door.h.
// Where  a thread of its own, every signal blocked, user context. It has no P and comes in as a
//        guest, so it answers while every P spins.
// Law    a client cannot hold up the program, nor its end: os/control.h bounds every wait, and
//        stop() wakes the thread. Requests are answered one at a time, also while a trace is taken.
// Proof  tests/tools/control_test.py
#include <charconv>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include <vole/runtime.h>
#include <vole/version.h>

#include "base/fatal.h"
#include "os/control.h"
#include "os/os.h"
#include "sched/run/control_door.h"
#include "sched/report/dump.h"
#include "sched/report/inspect.h"
#include "trace/session.h"

namespace vole::rt::control {
namespace {

using namespace base;

constexpr std::int64_t kSecond = 1000 * 1000 * 1000;
constexpr std::uint32_t kMostSeconds = 3600;

struct control_state {
  os::control_socket socket;
  os::thread thread;
  bool open = false;  // start's and stop's
  atomic<std::uint32_t> threads{0};
  bool tracing = false;  // the thread's own
};
constinit control_state own;

void serve_one() noexcept;

std::string version_text() {
  return std::to_string(VOLE_VERSION / 10000) + "." + std::to_string(VOLE_VERSION / 100 % 100) +
         "." + std::to_string(VOLE_VERSION % 100) + "\n";
}

std::string dump_text() {
  capture picture;
  if (!take_picture(picture, true)) throw std::bad_alloc();
  std::string text;
  dump::write(
      picture, false,
      [](std::string_view more, void* to) noexcept { *static_cast<std::string*>(to) += more; },
      &text);
  return text;
}

// While a trace is taken others are answered. If the client that asked for it goes, the trace ends.
void wait_while_tracing(int connection, std::int64_t until) noexcept {
  for (;;) {
    const std::int64_t left = until - os::now_ns();
    if (left <= 0) return;
    switch (os::await_control(own.socket, connection, left)) {
      case os::control_news::woken:
      case os::control_news::gone: return;
      case os::control_news::somebody: serve_one(); break;
      case os::control_news::nothing: break;
    }
  }
}

std::string trace_answer(std::string_view argument, int connection, int file) {
  std::uint32_t seconds = 0;
  const char* const end = argument.data() + argument.size();
  const auto [stopped, error] = std::from_chars(argument.data(), end, seconds);
  const bool proper =
      error == std::errc{} && stopped == end && seconds >= 1 && seconds <= kMostSeconds;
  std::string refused;
  if (!os::is_writable_file(file)) refused = "error: trace needs a file that can be written\n";
  if (!proper) refused = "error: trace takes a number of seconds from 1 to 3600\n";
  if (own.tracing) refused = "error: a trace is being taken already\n";
  if (!refused.empty()) {
    os::close_descriptor(file);
    return refused;
  }
  if (const std::error_code failed = trace::start_on(file)) {
    return "error: the trace cannot be started: " + failed.message() + "\n";
  }
  own.tracing = true;
  wait_while_tracing(connection, os::now_ns() + seconds * kSecond);
  own.tracing = false;
  if (const std::error_code failed = trace::finish()) {
    return "error: the trace is not complete: " + failed.message() + "\n";
  }
  return "ok\n";
}

// `file` is ours to close or to hand on.
std::string answer_to(std::string_view request, int connection, int file) {
  const std::size_t blank = request.find(' ');
  const std::string_view verb = request.substr(0, blank);
  if (verb == "trace") {
    const bool bare = blank == std::string_view::npos;
    return trace_answer(bare ? "" : request.substr(blank + 1), connection, file);
  }
  os::close_descriptor(file);
  if (request == "version") return "ok\n" + version_text();
  if (request == "metrics") return "ok\n" + metrics();
  if (request == "dump") return "ok\n" + dump_text();
  return "error: there is no such request\n";
}

void serve_one() noexcept {
  const int connection = os::accept_control(own.socket);
  if (connection < 0) return;
  char line[128];
  int file = -1;
  if (os::receive_line(own.socket, connection, line, sizeof line, &file)) {
    try {
      const std::string text = answer_to(line, connection, file);
      os::send_text(own.socket, connection, text.data(), text.size());
    } catch (const std::bad_alloc&) {
      constexpr std::string_view kNoMemory = "error: no memory\n";
      os::send_text(own.socket, connection, kNoMemory.data(), kNoMemory.size());
    }
  }
  os::close_descriptor(connection);
}

void control_main(void*) noexcept {
  for (;;) {
    switch (os::await_control(own.socket, -1, -1)) {
      case os::control_news::woken: return;
      case os::control_news::somebody: serve_one(); break;
      default: break;
    }
  }
}

void complain(const char* what, int error) noexcept {
  sentence s;
  s << "vole: there is no control socket: " << what << ": " << os::error_text(error) << "\n";
  s.print();
}

}  // namespace

void start() noexcept {
  const char* what = "";
  if (const int error = os::open_control(&own.socket, &what)) return complain(what, error);
  os::thread_spec spec;
  spec.main = &control_main;
  spec.name = "vole-control";
  spec.block_signals = true;
  own.threads.store(1, seq_cst);
  own.open = true;
  if (const int error = os::create_thread(&own.thread, spec)) {
    own.open = false;
    own.threads.store(0, seq_cst);
    os::close_control(own.socket);
    complain("its thread", error);
  }
}

void stop() noexcept {
  if (!own.open) return;
  own.open = false;
  os::ring_control(own.socket);
  os::join_thread(own.thread);
  own.threads.store(0, seq_cst);
  os::close_control(own.socket);
}

std::uint32_t threads() noexcept { return own.threads.load(seq_cst); }

}  // namespace vole::rt::control
