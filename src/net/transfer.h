// One operation on a file that would block: try, wait, try again.
//
// Who    src/net and src/file, in user context, with the lock of that way held (`turn`).
// Note   the quick way is one compare-exchange in, the call, and one out: the runtime is not
//        entered.
#pragma once

#include <cerrno>
#include <system_error>

#include <vole/blocking.h>
#include <vole/context.h>
#include <vole/detail/left_behind.h>
#include <vole/errors.h>

#include "os/net.h"
#include "net/errors.h"
#include "net/pollable.h"
#include "time/error_of.h"

namespace vole {
inline namespace v0 {
namespace detail {

// Why a context has ended a wait.
inline std::error_code code_of(const context* ctx) noexcept {
  const std::error_code why = ctx != nullptr ? error_of(access::node(*ctx)) : std::error_code();
  return why ? why : std::error_code(errc::canceled);
}
inline std::error_code code_of(pollable::outcome o, const context* ctx = nullptr) noexcept {
  switch (o) {
    case pollable::outcome::closed: return errc::closed;
    case pollable::outcome::late: return errc::deadline_exceeded;
    case pollable::outcome::canceled: return code_of(ctx);
    default: return {};
  }
}
// ctx may be null.
inline rt::interrupter* interrupter_of(const context* ctx) noexcept {
  return ctx != nullptr ? interrupter_of(access::node(*ctx)) : nullptr;
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
  // The same, unless the context is done before, or while others have their turn. ctx may be null.
  turn(pollable* p, way w, const context* ctx, std::error_code& error) noexcept
      : file_(take(p, w, ctx, error)), way_(w) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  explicit operator bool() const noexcept { return file_ != nullptr; }

 private:
  static pollable* take(pollable* p, way w, const context* ctx, std::error_code& error) noexcept {
    error.clear();
    if (ctx != nullptr) error = error_of(access::node(*ctx));
    if (error) return nullptr;
    error = p == nullptr ? std::error_code(errc::closed)
                         : code_of(p->acquire(w, interrupter_of(ctx)), ctx);
    return error ? nullptr : p;
  }
  pollable* const file_;
  const way way_;
};

// call(fd) until it no longer says "would block", which it would now if that is `sure`, or until the
// context is done, which may be null. On error 0, and `error` is set.
template <class Call>
std::int64_t until_done(pollable& p, way w, std::error_code& error, Call call, bool sure = false,
                        const context* ctx = nullptr) noexcept {
  rt::interrupter* const by = interrupter_of(ctx);
  pollable::outcome o = p.state(w);
  if (sure && o == pollable::outcome::go_on) o = p.wait(w, by);
  for (; o == pollable::outcome::go_on; o = p.wait(w, by)) {
    // A file that cannot be watched may keep the thread: a slow disk, a terminal.
    const os::result r = p.watched() ? call(p.fd()) : blocking([&] { return call(p.fd()); });
    if (r.ok()) return r.value;
    if (r.error == EAGAIN && p.watched()) continue;
    error = system_error_code(r.error);
    return 0;
  }
  error = code_of(o, ctx);
  return 0;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
