#include "net/endpoint.h"

#include <cerrno>

#include <vole/detail/left_behind.h>
#include <vole/net.h>

#include "os/net.h"
#include "net/errors.h"
#include "net/socket_address.h"
#include "sched/life/belonging.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

void close_endpoint(endpoint& e) noexcept {
  if (!e.path_to_remove.empty()) {
    const using_file here(&e);  // once, and while nobody else can have the path yet
    if (here) os::net::unlink(e.path_to_remove.c_str());
  }
  e.close();
}

// The handle's reference to the record.
struct drop_record {
  void operator()(endpoint* e) const noexcept { e->drop(); }
};
using handle_ptr = std::unique_ptr<endpoint, drop_record>;

}  // namespace

endpoint_ptr open_endpoint(owned_fd fd, const endpoint::traits& t, int& error) {
  rt::belonging<endpoint_ptr> e(new endpoint(fd.get(), t));
  fd.take();
  (*e)->ours = t.kind == transport::tcp;
  error = (*e)->attach();
  if (error != 0) e->reset();
  return std::move(*e);
}

void drop_endpoint(endpoint* e) noexcept {
  if (e == nullptr) return;
  const rt::belonging<handle_ptr> mine(e);
  close_endpoint(*e);
}

std::string named(const char* what, const endpoint* e) {
  std::string s = what;
  if (e == nullptr || !e->local) return s;
  s.append(" ").append(e->local.network()).append(" ").append(e->local.to_string());
  if (e->remote) s.append("->").append(e->remote.to_string());
  return s;
}

net_handle::operator bool() const noexcept {
  end_if_left_behind();
  return end_ != nullptr && !end_->closed();
}

void net_handle::close() const noexcept {
  if (end_ != nullptr) close_endpoint(*end_);
  end_if_left_behind();
}

void net_handle::set_deadline(any_time_point t) const noexcept {
  if (end_ != nullptr) end_->set_deadline(way::in, to_ns(t));
  if (end_ != nullptr) end_->set_deadline(way::out, to_ns(t));
  end_if_left_behind();
}
void net_handle::set_read_deadline(any_time_point t) const noexcept {
  if (end_ != nullptr) end_->set_deadline(way::in, to_ns(t));
  end_if_left_behind();
}
void net_handle::set_write_deadline(any_time_point t) const noexcept {
  if (end_ != nullptr) end_->set_deadline(way::out, to_ns(t));
  end_if_left_behind();
}

net::address net_handle::local_address() const {
  end_if_left_behind();
  return end_ != nullptr ? end_->local : net::address();
}

int net_handle::native_handle() const noexcept {
  end_if_left_behind();
  const using_file here(end_);
  return here ? end_->fd() : -1;
}

int net_handle::release() noexcept {
  end_if_left_behind();
  endpoint* const e = std::exchange(end_, nullptr);
  if (e == nullptr) return -1;
  const rt::belonging<handle_ptr> mine(e);
  const int fd = e->fd();
  return e->close(true) ? fd : -1;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
