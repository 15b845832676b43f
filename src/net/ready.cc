// vole::wait_readable, wait_writable: for files that are not ours.
//
// Law    the owner may watch or close its own descriptor as it likes, and any number may wait for the
//        same one: the poller's record of it (poll/watch.h) asks the kernel anew at each wait.

#include <vole/net.h>

#include <poll.h>

#include <cerrno>

#include "os/net.h"
#include "net/errors.h"
#include "net/file_wait.h"
#include "net/transfer.h"
#include "os/os.h"

namespace vole {
inline namespace v0 {
namespace {

using detail::file_wait;

enum class way : bool { in, out };

// Ready, or the time is over: then false. ctx may be null.
bool watch(int fd, way w, std::int64_t until, const context* ctx, std::error_code& error) noexcept {
  rt::poll::watched file;
  file.fd = fd;
  file.wants = w == way::out ? POLLOUT : POLLIN | POLLPRI | POLLRDHUP;
  for (;;) {
    file_wait one(&file, 1, until, detail::interrupter_of(ctx));
    const file_wait::outcome o = one.wait();
    if (o == file_wait::outcome::refused)
      error = detail::system_error_code(one.error == rt::poll::kNotHere ? ENOMEM : one.error);
    if (file.closed) error = detail::system_error_code(EBADF);
    if (error) return false;
    const os::result now = os::net::ready_now(fd, w == way::out);
    if (!now.ok()) error = detail::system_error_code(now.error);
    if (!now.ok() || now.value != 0) return now.value != 0;
    if (o == file_wait::outcome::canceled) error = detail::code_of(ctx);
    if (o != file_wait::outcome::again) return false;
  }
}

bool wait_ready(int fd, way w, time_point t, const context* ctx, std::error_code& error) {
  detail::end_if_left_behind();
  error.clear();
  if (ctx != nullptr) error = ctx->err();
  if (error) return false;
  const os::result now = os::net::ready_now(fd, w == way::out);
  if (!now.ok()) error = detail::system_error_code(now.error);
  if (!now.ok() || now.value != 0) return now.ok();
  const std::int64_t until = detail::to_ns(t);
  return until > os::now_ns() && watch(fd, w, until, ctx, error);
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
