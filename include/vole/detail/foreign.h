// Waiting for files that are not vole's own, on behalf of code that knows nothing of goroutines: what
// an interposing library (vole::hooks) asks of the scheduler. Not for users.
//
//     read(fd, …) as the library has it            what it calls here
//     somewhere where it must not park             !can_park(): the bare call
//     try without blocking; EAGAIN
//     wait                                         wait_fds
//     try again, return
//     close(fd)                                    closing around the bare close
//
// Who    a goroutine of ours for which can_park() has just said yes.
// Where  user context, on the goroutine's own stack.
// Law    each of these calls comes back on the thread that it was made from, its home: compilers keep
//        the addresses of errno and of thread_local variables in registers across calls. There is one
//        exception, counted in stats().hooked_migrations.
// Law    nothing here reads or writes errno.
#pragma once

#include <poll.h>

#include <cstdint>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {
namespace foreign {

// Deadlines are of CLOCK_MONOTONIC, in nanoseconds.
inline constexpr std::int64_t kNoDeadline = INT64_MAX;
std::int64_t now_ns() noexcept;

// On a goroutine, in its user code, on its stack; the runtime runs, and this process is not a forked
// child. A few loads. A signal handler that interrupted user code and has no stack of its own is
// found out later: wait_fds() and sleep_home() then block the thread as the bare call would.
bool can_park() noexcept;

// poll(2): the same fds, events and revents, the same results, but for errors, which come as -errno,
// and for signals, of which the goroutine hears nothing. One whose file is being closed gets POLLNVAL.
// To be called when nothing is ready, as the caller has just seen: what is ready after all is told at
// the price of a whole wait.
int wait_fds(pollfd* fds, unsigned n, std::int64_t deadline) noexcept;

void sleep_home(std::int64_t deadline) noexcept;

// Around a call that blocks its thread and can do nothing else (getaddrinfo, flock), as
// vole::blocking(), but the goroutine stays on the thread. Where can_park() says no: nothing.
class call_at_home {
 public:
  call_at_home() noexcept;
  ~call_at_home();
  call_at_home(const call_at_home&) = delete;
  call_at_home& operator=(const call_at_home&) = delete;

 private:
  bool told_;
};

// Around a bare close, dup2 or dup3 that closes `fd`, or a close_range, on any thread. If it has
// closed (done()), those who wait for the file in wait_fds are woken, and get POLLNVAL. Who begins to
// wait in between looks again afterwards, and finds either nothing or the number's next file.
class closing {
 public:
  explicit closing(int fd) noexcept
      : closing(static_cast<unsigned>(fd), static_cast<unsigned>(fd)) {}
  closing(unsigned first, unsigned last) noexcept : first_(first), last_(last) { begin(); }
  ~closing() { end(); }
  closing(const closing&) = delete;
  closing& operator=(const closing&) = delete;
  void done() noexcept { done_ = true; }

 private:
  void begin() noexcept;
  void end() noexcept;

  const unsigned first_, last_;
  bool done_ = false, tells_ = false;
};

// In a loop of calls that never have to wait: gives way to others if vole asks for it, and comes
// back on the same thread, whose errno those others may have changed. Only where can_park().
bool is_to_give_way() noexcept;  // two loads
void give_way() noexcept;

}  // namespace foreign
}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
