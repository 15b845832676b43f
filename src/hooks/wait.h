// One call's wait for one descriptor: asked what it may, and for how long, when it first would block.
//
// Law    a non-blocking descriptor (F_GETFL) gives EAGAIN at once. SO_RCVTIMEO and SO_SNDTIMEO end
//        the wait with EAGAIN. One whose caller must not park makes the bare call.
// Law    who closes the descriptor ends the wait with EBADF.
// Law    one that is ready again and again and has nothing to give ends in the bare call, never in a
//        loop: others may be quicker each time.
#pragma once

#include "hooks/call.h"

namespace vole::hooks {

class waiting {
 public:
  enum class way : std::uint8_t { in, out };
  // `first`: wait before the first try. A non-blocking descriptor is tried nevertheless.
  waiting(const caller& by, int fd, way w, bool first = false) noexcept
      : by_(by), fd_(fd), way_(w), waits_first_(first) {}
  bool is_worth_trying() const noexcept { return !waits_first_; }

  // What to do after EAGAIN.
  static constexpr long kTryAgain = 0, kMakeBareCall = 1;  // else a negative errno: the answer
  long wait() noexcept;
  void moved() noexcept { in_vain_ = 0; }  // a part has been done
  bool has_waited() const noexcept { return in_vain_ != 0; }

 private:
  long begin() noexcept;

  const caller by_;
  const int fd_;
  const way way_;
  bool begun_ = false;
  bool waits_first_;
  int in_vain_ = 0;  // wake-ups since something moved
  std::int64_t deadline_ = foreign::kNoDeadline;
};

// poll(2) by parking. Negative: an errno.
long park_until_ready(const caller& by, pollfd* fds, unsigned n, std::int64_t deadline) noexcept;

void park_until(const caller& by, std::int64_t deadline) noexcept;

// In `t` from now. Null: never.
std::int64_t deadline_of(const timespec* t) noexcept;
std::int64_t deadline_in_ms(int ms) noexcept;  // negative: never
bool is_over(std::int64_t deadline) noexcept;
// Until then; at least 0.
timespec left_until(std::int64_t deadline) noexcept;

}  // namespace vole::hooks
