// One program, three ways: bare (plain threads), hooked (linked with vole::hooks, each scenario on a
// goroutine) and preloaded (the bare one with libvole-preload.so). Each prints what every call
// answered; compare.py holds the outputs against each other.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include <errno.h>
#include <unistd.h>

#ifdef VOLE_CONFORMANCE_HOOKED
#include <vole/vole.h>
#else
#include <thread>
#endif

namespace conformance {

// What the other side shows comes out when it has ended: the order of lines is always the same.
std::string* notes_here();  // null: not on the other side
void begin_notes(std::string* to);
void end_notes();

// The other side of a scenario: a goroutine or a thread. The destructor waits for it.
class beside {
 public:
  explicit beside(std::function<void()> fn)
      : other_(start([this, fn = std::move(fn)] {
          begin_notes(&notes_);
          fn();
          end_notes();
        })) {}
  ~beside() {
    other_.join();
    std::fputs(notes_.c_str(), stdout);
  }
  beside(const beside&) = delete;
  beside& operator=(const beside&) = delete;

 private:
  std::string notes_;
#ifdef VOLE_CONFORMANCE_HOOKED
  static vole::join_handle<void> start(std::function<void()> fn) {
    return vole::spawn(std::move(fn));
  }
  vole::join_handle<void> other_;
#else
  static std::thread start(std::function<void()> fn) { return std::thread(std::move(fn)); }
  std::thread other_;
#endif
};

inline void pause_ms(int ms) { usleep(static_cast<useconds_t>(ms) * 1000); }

inline void put(const std::string& line) {
  if (std::string* const notes = notes_here()) {
    *notes += "    " + line + "\n";
  } else {
    std::printf("  %s\n", line.c_str());
  }
}

// A compiler keeps errno's address across calls, and a goroutine that has lost its home is on another
// thread (docs/libraries.md): here it is found anew.
[[gnu::noinline]] inline int error_here() { return errno; }

// "what: 5", or "what: -1 EAGAIN"
template <class T>
void show(const char* what, T result) {
  const int error = error_here();
  const auto n = static_cast<long>(result);
  put(what + (": " + std::to_string(n)) + (n < 0 ? std::string(" ") + strerrorname_np(error) : ""));
}
inline void show(const char* what, const std::string& text) { put(what + (": " + text)); }

class stopwatch {
 public:
  // At least so long, and not absurdly longer.
  void show_waited(const char* what, int ms) const {
    const double waited =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_)
            .count();
    const bool right = waited >= ms && waited < ms + 10'000;
    show(what, std::string(right ? "waited" : waited < ms ? "TOO SHORT" : "TOO LONG"));
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct scenario {
  scenario(const char* name, void (*run)());
  const char* name;
  void (*run)();
  scenario* next = nullptr;
};

}  // namespace conformance

#define SCENARIO(name)                                             \
  static void name();                                              \
  static const conformance::scenario scenario_##name(#name, name); \
  static void name()
