// vole::wait_readable, wait_writable: for files that are not ours.
//
// Law    what is registered is a duplicate: the owner may watch or close its own descriptor as it
//        likes, and two may wait for the same one. It is taken off before it is closed, since the
//        kernel watches the file, not the number.

#include <vole/net.h>

#include "net/calls.h"
#include "net/errors.h"
#include "net/pollable.h"
#include "net/transfer.h"
#include "os/os.h"

namespace vole {
inline namespace v0 {
namespace {

using detail::pollable;
using detail::way;

// Ready, or the time is over: then false.
bool watch(pollable& p, way w, std::int64_t until, std::error_code& error) noexcept {
  p.set_deadline(w, until);
  const detail::turn mine(&p, w, error);
  for (;;) {
    const pollable::outcome o = p.wait(w);
    const detail::calls::result now = detail::calls::ready_now(p.fd(), w == way::out);
    if (!now.ok()) error = detail::system_error_code(now.error);
    if (!now.ok() || now.value != 0 || o != pollable::outcome::go_on) return now.value != 0;
  }
}

bool wait_ready(int fd, way w, time_point t, std::error_code& error) {
  error.clear();
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
  auto* const p = new pollable(static_cast<int>(copy.value));
  const int refused = p->attach();
  bool ready = true;
  if (refused != 0) {
    error = detail::system_error_code(refused);
    ready = false;
  } else if (p->watched()) {
    ready = watch(*p, w, until, error);
  }
  p->close();
  p->drop();
  return ready;
}

bool wait_or_throw(int fd, way w, time_point t) {
  std::error_code error;
  const bool ready = wait_ready(fd, w, t, error);
  if (error) detail::throw_net(w == way::in ? "vole::wait_readable" : "vole::wait_writable", error);
  return ready;
}

}  // namespace

bool wait_readable(int fd, time_point until) { return wait_or_throw(fd, way::in, until); }
bool wait_readable(int fd, std::error_code& error) {
  return wait_ready(fd, way::in, time_point::max(), error);
}
bool wait_readable(int fd, time_point until, std::error_code& error) {
  return wait_ready(fd, way::in, until, error);
}
bool wait_writable(int fd, time_point until) { return wait_or_throw(fd, way::out, until); }
bool wait_writable(int fd, std::error_code& error) {
  return wait_ready(fd, way::out, time_point::max(), error);
}
bool wait_writable(int fd, time_point until, std::error_code& error) {
  return wait_ready(fd, way::out, until, error);
}

}  // namespace v0
}  // namespace vole
