// Exceptions that leave a goroutine, and those that do not.

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

constexpr int kTooLate = 77;  // the runtime had ended before it came to the point

struct loud {
  ~loud() { say("unwound\n"); }
};

// extern "C": a name that a backtrace shows as it is.
extern "C" [[gnu::noinline]] void thrower_in_the_child() {
  const loud l;
  throw std::runtime_error("boom");
}

template <class F>
int thrown_by(F fn, const char* name = nullptr) {
  return vole::run([&] {
    vole::wait_group done;
    done.add(1);
    vole::go({.name = name}, fn);
    done.wait();
    return kAlive;
  });
}

int error() { return thrown_by(thrower_in_the_child, "bomb"); }
int number() {
  return thrown_by([] { throw 7; });
}
int text() {
  return thrown_by([] { throw "plain text"; });
}
int long_text() {
  return thrown_by([] { throw std::runtime_error(std::string(3000, 'x')); });
}
int through_noexcept() {
  return thrown_by([]() noexcept { thrower_in_the_child(); });
}
int terminate_called() {
  return thrown_by([] { std::terminate(); });
}
int in_wait_group() {
  return vole::run([] {
    vole::wait_group done;
    done.go(thrower_in_the_child);
    done.wait();
    return kAlive;
  });
}
int implicit() {
  vole::go(thrower_in_the_child);
  for (;;) pause();
}

int uncollected() {
  return vole::run([] {
    { const auto h = vole::spawn(thrower_in_the_child); }
    return kAlive;
  });
}
int uncollected_named() {
  return vole::run([] {
    vole::wait_group done;
    done.go([] { const auto h = vole::spawn({.name = "worker"}, thrower_in_the_child); });
    done.wait();
    return kAlive;
  });
}
int uncollected_on_thread() {
  { const auto h = vole::spawn(thrower_in_the_child); }
  return kAlive;
}
int uncollected_while_unwinding() {
  return vole::run([] {
    try {
      const auto h = vole::spawn(thrower_in_the_child);
      throw std::logic_error("another");
    } catch (const std::logic_error& e) {
      say(e.what());
    }
  });
}
int detached() {
  return vole::run([] {
    auto h = vole::spawn(thrower_in_the_child);
    vole::wait_group done;
    done.go([] {});
    done.wait();
    h.detach();
  });
}

int leaves_main() {
  try {
    vole::run(thrower_in_the_child);
  } catch (const std::runtime_error& e) {
    say(e.what());
    return 0;
  }
  return kAlive;
}

int uncaught_from_main() { return vole::run(thrower_in_the_child); }
int uncaught_from_main_on_thread() {
  std::thread([] { vole::run(thrower_in_the_child); }).join();
  return kAlive;
}
int joined_by_main() {
  return vole::run([] { vole::spawn(thrower_in_the_child).join(); });
}
// Thrown on twice; and destructors throw and catch meanwhile, on this goroutine and on another.
int joined_by_main_again() {
  struct busy {
    ~busy() {
      try {
        vole::spawn([] { throw std::logic_error("another"); }).join();
      } catch (const std::logic_error&) {
        vole::yield();
      }
    }
  };
  return vole::run([] {
    auto h = vole::spawn([] {
      const busy b;
      vole::spawn(thrower_in_the_child).join();
    });
    const busy b;
    h.join();
  });
}
int grouped_by_main() {
  return vole::run([] {
    vole::group g;
    g.go([] { throw std::logic_error("another"); });
    try {
      g.wait();
    } catch (const std::logic_error&) {
    }
    // The first one counts, which has ended before the others.
    vole::group h;
    h.go(thrower_in_the_child);
    while (h.context().err() == std::error_code()) vole::yield();
    for (int i = 0; i < 100; ++i) h.go([] { throw std::logic_error("another"); });
    h.wait();
  });
}
// By a group of a goroutine of a group.
int grouped_by_main_again() {
  return vole::run([] {
    vole::group g;
    g.go([] {
      vole::group h;
      h.go(thrower_in_the_child);
      h.wait();
    });
    g.wait();
  });
}
int caught_by_main_then_its_own() {
  return vole::run([] {
    try {
      vole::spawn(thrower_in_the_child).join();
    } catch (const std::runtime_error&) {
    }
    throw std::logic_error("another");
  });
}
// Caught, and then another one is not.
int caught_from_main_then_another() {
  const std::terminate_handler before = std::get_terminate();
  if (leaves_main() != 0 || std::get_terminate() != before) return 1;
  throw std::logic_error("another");
}

int from_the_network() {
  return thrown_by([] { (void)vole::net::dial("tcp", "127.0.0.1:1"); });
}
int from_a_closed_channel() {
  return thrown_by([] {
    const vole::chan<int> c(1);
    c.close();
    c.send(1);
  });
}

[[noreturn]] void users_terminate() {
  say("the user's terminate\n");
  _exit(43);
}

int terminate_after_run() {
  std::set_terminate(users_terminate);
  vole::run([] {});
  if (std::get_terminate() != users_terminate) return 1;
  thrower_in_the_child();
  return kAlive;
}
int terminate_from_main() {
  std::set_terminate(users_terminate);
  return uncaught_from_main();
}
int terminate_on_thread() {
  std::set_terminate(users_terminate);
  return vole::run([] {
    std::thread([]() noexcept { thrower_in_the_child(); }).join();
    return kAlive;
  });
}
// A goroutine's panic is told by us even so.
int terminate_on_goroutine() {
  std::set_terminate(users_terminate);
  return error();
}
// Installed while the runtime runs: the user's last word.
int terminate_set_inside() {
  return thrown_by([] {
    std::set_terminate(users_terminate);
    thrower_in_the_child();
  });
}

// ── somebody would end the program with status 0 meanwhile ──

std::atomic<bool> last_words_begun{false}, others_ended{false};

// Its what() is a part of the last words: others end meanwhile, if they can.
struct slow_to_tell : std::exception {
  const char* what() const noexcept override {
    last_words_begun = true;
    for (int i = 0; i < 300 && !others_ended; ++i) usleep(1000);
    return "slow";
  }
};
void throw_slowly() { throw slow_to_tell(); }

int main_returns() {
  vole::run([] {
    vole::go(throw_slowly);
    while (!last_words_begun) vole::yield();
  });
  others_ended = true;
  return 0;
}
int main_returns_from_spawn() {
  vole::run([] {
    vole::go([] { const auto h = vole::spawn(throw_slowly); });
    while (!last_words_begun) vole::yield();
  });
  others_ended = true;
  return 0;
}
int program_exits() {
  vole::go(throw_slowly);
  while (!last_words_begun) usleep(100);
  return 0;
}
int runtime_shut_down() {
  vole::go(throw_slowly);
  while (!last_words_begun) usleep(100);
  vole::shutdown();
  others_ended = true;
  _exit(0);
}
// Its last words begin while the runtime ends, and call vole.
int last_words_enter_vole() {
  struct entering : std::exception {
    const char* what() const noexcept override {
      last_words_begun = true;
      for (;;) vole::yield();
    }
  };
  static std::atomic<bool> in_code{false};
  vole::run([] {
    vole::go([] {
      in_code = true;
      while (vole::detail::left_behind() == 0) {
      }
      throw entering();
    });
    while (!in_code) vole::yield();
  });
  return last_words_begun ? kAlive : kTooLate;
}

// stderr is a pipe with room for the sentence and little more; it is emptied when main has had time
// to end.
int main_returns_from_fatal() {
  constexpr int kPage = 4096, kFilled = kPage - 400;
  static int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0 || fcntl(pipe[0], F_SETPIPE_SZ, kPage) < 0) return 1;
  if (write(pipe[1], std::string(kFilled, '.').data(), kFilled) != kFilled) return 1;
  dup2(pipe[1], STDERR_FILENO);
  std::thread([] {
    for (int n = 0; n <= kFilled; ioctl(pipe[0], FIONREAD, &n)) usleep(100);
    last_words_begun = true;
    for (int i = 0; i < 300 && !others_ended; ++i) usleep(1000);
    char text[kPage];
    while (read(pipe[0], text, sizeof text) > 0) {
    }
  }).detach();
  vole::run([] {
    vole::go([] {
      static vole::mutex m;
      m.unlock();
    });
    while (!last_words_begun) vole::yield();
  });
  others_ended = true;
  return 0;
}

int swallowed_exit() {
  return thrown_by([] {
    try {
      vole::exit_goroutine();
    } catch (...) {
    }
  });
}

constexpr scenario kAll[] = {
    {"error", error},
    {"number", number},
    {"text", text},
    {"long_text", long_text},
    {"through_noexcept", through_noexcept},
    {"terminate_called", terminate_called},
    {"in_wait_group", in_wait_group},
    {"implicit", implicit},
    {"uncollected", uncollected},
    {"uncollected_named", uncollected_named},
    {"uncollected_on_thread", uncollected_on_thread},
    {"uncollected_while_unwinding", uncollected_while_unwinding},
    {"detached", detached},
    {"leaves_main", leaves_main},
    {"uncaught_from_main", uncaught_from_main},
    {"joined_by_main", joined_by_main},
    {"joined_by_main_again", joined_by_main_again},
    {"grouped_by_main", grouped_by_main},
    {"grouped_by_main_again", grouped_by_main_again},
    {"caught_by_main_then_its_own", caught_by_main_then_its_own},
    {"uncaught_from_main_on_thread", uncaught_from_main_on_thread},
    {"caught_from_main_then_another", caught_from_main_then_another},
    {"from_the_network", from_the_network},
    {"from_a_closed_channel", from_a_closed_channel},
    {"terminate_from_main", terminate_from_main},
    {"terminate_after_run", terminate_after_run},
    {"terminate_on_thread", terminate_on_thread},
    {"terminate_on_goroutine", terminate_on_goroutine},
    {"terminate_set_inside", terminate_set_inside},
    {"swallowed_exit", swallowed_exit},
    {"main_returns", main_returns},
    {"main_returns_from_spawn", main_returns_from_spawn},
    {"main_returns_from_fatal", main_returns_from_fatal},
    {"program_exits", program_exits},
    {"runtime_shut_down", runtime_shut_down},
    {"last_words_enter_vole", last_words_enter_vole},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
