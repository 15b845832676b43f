// One operation on a file that would block: try, wait, try again.
//
// Who    src/net, in user context, with the lock of that way held (`turn`).
// Note   the quick way is one compare-exchange in, the call, and one out: the runtime is not
//        entered.
#pragma once

#include <cerrno>
#include <system_error>

#include <vole/blocking.h>
#include <vole/errors.h>

#include "net/calls.h"
#include "net/errors.h"
#include "net/pollable.h"

namespace vole {
inline namespace v0 {
namespace detail {

inline std::error_code code_of(pollable::outcome o) noexcept {
  switch (o) {
    case pollable::outcome::closed: return errc::closed;
    case pollable::outcome::late: return errc::deadline_exceeded;
    default: return {};
  }
}

// The lock of one way, for a block. False: closed, or there is no file.
class turn {
 public:
  turn(pollable* p, way w, std::error_code& error) noexcept
      : file_(p != nullptr && p->acquire(w) ? p : nullptr), way_(w) {
    if (file_ == nullptr) {
      error = errc::closed;
    } else {
      error.clear();
    }
  }
  ~turn() {
    if (file_ != nullptr) file_->release(way_);
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  explicit operator bool() const noexcept { return file_ != nullptr; }

 private:
  pollable* const file_;
  const way way_;
};

// call(fd) until it no longer says "would block", which it would now if that is `sure`. On error 0,
// and `error` is set.
template <class Call>
std::int64_t until_done(pollable& p, way w, std::error_code& error, Call call,
                        bool sure = false) noexcept {
  pollable::outcome o = p.state(w);
  if (sure && o == pollable::outcome::go_on) o = p.wait(w);
  for (; o == pollable::outcome::go_on; o = p.wait(w)) {
    // A file that cannot be watched may keep the thread: a slow disk, a terminal.
    const calls::result r = p.watched() ? call(p.fd()) : blocking([&] { return call(p.fd()); });
    if (r.ok()) return r.value;
    if (r.error == EAGAIN && p.watched()) continue;
    error = system_error_code(r.error);
    return 0;
  }
  error = code_of(o);
  return 0;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
