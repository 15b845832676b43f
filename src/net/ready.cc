// vole::wait_readable, wait_writable: for files that are not ours.
//
// Law    what is registered is a duplicate: the owner may watch or close its own descriptor as it
//        likes, and two may wait for the same one. It is taken off before it is closed, since the
//        kernel watches the file, not the number.
// Law    the duplicate is closed whatever happens: a wait that the end of the runtime interrupts
//        leaves none behind, so that the peer sees the end of the connection.

#include <vole/net.h>

#include "net/calls.h"
#include "net/endpoint.h"
#include "net/errors.h"
#include "net/transfer.h"
#include "os/os.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace {

using detail::pollable;
using detail::way;

// Ready, or the time is over: then false. ctx may be null.
bool watch(pollable& p, way w, std::int64_t until, const context* ctx,
           std::error_code& error) noexcept {
  p.set_deadline(w, until);
  const detail::turn mine(&p, w, error);
  for (;;) {
    const pollable::outcome o = p.wait(w, detail::interrupter_of(ctx));
    const detail::calls::result now = detail::calls::ready_now(p.fd(), w == way::out);
    if (!now.ok()) error = detail::system_error_code(now.error);
    if (!now.ok() || now.value != 0) return now.value != 0;
    if (o == pollable::outcome::canceled) error = detail::code_of(ctx);
    if (o != pollable::outcome::go_on) return false;
  }
}

bool wait_ready(int fd, way w, time_point t, const context* ctx, std::error_code& error) {
  detail::end_if_left_behind();
  error.clear();
  if (ctx != nullptr) error = ctx->err();
  if (error) return false;
  const detail::calls::result now = detail::calls::ready_now(fd, w == way::out);
  if (!now.ok()) error = detail::system_error_code(now.error);
  if (!now.ok() || now.value != 0) return now.ok();
  const std::int64_t until = detail::to_ns(t);
  if (until <= os::now_ns()) return false;
  const detail::calls::result copy = detail::calls::duplicate(fd);
  if (!copy.ok()) {
    error = detail::system_error_code(copy.error);
    return false;
  }
  detail::owned_fd mine(static_cast<int>(copy.value));
  rt::belonging<detail::pollable_ptr> p(new pollable(mine.get()));
  mine.take();
  if (const int refused = (*p)->attach()) {
    error = detail::system_error_code(refused);
    return false;
  }
  return !(*p)->watched() || watch(**p, w, until, ctx, error);
}

bool wait_or_throw(int fd, way w, time_point t, const context* ctx) {
  std::error_code error;
  const bool ready = wait_ready(fd, w, t, ctx, error);
  if (error) detail::throw_net(w == way::in ? "vole::wait_readable" : "vole::wait_writable", error);
  return ready;
}

}  // namespace

bool wait_readable(int fd, detail::any_time_point until) {
  return wait_or_throw(fd, way::in, until, nullptr);
}
bool wait_readable(int fd, std::error_code& error) {
  return wait_ready(fd, way::in, time_point::max(), nullptr, error);
}
bool wait_readable(int fd, detail::any_time_point until, std::error_code& error) {
  return wait_ready(fd, way::in, until, nullptr, error);
}
bool wait_readable(int fd, const context& ctx) {
  return wait_or_throw(fd, way::in, time_point::max(), &ctx);
}
bool wait_readable(int fd, const context& ctx, std::error_code& error) {
  return wait_ready(fd, way::in, time_point::max(), &ctx, error);
}
bool wait_writable(int fd, detail::any_time_point until) {
  return wait_or_throw(fd, way::out, until, nullptr);
}
bool wait_writable(int fd, std::error_code& error) {
  return wait_ready(fd, way::out, time_point::max(), nullptr, error);
}
bool wait_writable(int fd, detail::any_time_point until, std::error_code& error) {
  return wait_ready(fd, way::out, until, nullptr, error);
}
bool wait_writable(int fd, const context& ctx) {
  return wait_or_throw(fd, way::out, time_point::max(), &ctx);
}
bool wait_writable(int fd, const context& ctx, std::error_code& error) {
  return wait_ready(fd, way::out, time_point::max(), &ctx, error);
}

}  // namespace v0
}  // namespace vole
