// What conn, listener and packet_conn have in common. Not for users by itself.
#pragma once

#include <utility>

#include <vole/detail/net_address.h>
#include <vole/detail/time.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

class endpoint;                            // src/net/endpoint.h
void drop_endpoint(endpoint* e) noexcept;  // closes

// Movable. Calls on an empty one do nothing.
class net_handle {
 public:
  net_handle(net_handle&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  net_handle& operator=(net_handle&& other) noexcept {
    if (this != &other) drop_endpoint(std::exchange(end_, std::exchange(other.end_, nullptr)));
    return *this;
  }
  ~net_handle() { drop_endpoint(end_); }

  explicit operator bool() const noexcept;  // neither empty nor closed

  // Every wait ends with errc::closed; when this returns all users have left, and the descriptor
  // is closed. Idempotent.
  void close() const noexcept;

  // From then on every read (write) fails with errc::deadline_exceeded, one that waits now
  // included, until another deadline is set; max(): none.
  void set_deadline(any_time_point t) const noexcept;
  void set_read_deadline(any_time_point t) const noexcept;  // for a listener: accept's
  void set_write_deadline(any_time_point t) const noexcept;

  net::address local_address() const;  // empty if there is none

  int native_handle() const noexcept;  // -1: empty or closed. For options; it is non-blocking
  // As close(), but the descriptor stays open and is the caller's; -1: there is none. It is
  // blocking again if it was adopted so.
  [[nodiscard]] int release() noexcept;

 protected:
  friend struct kernel_copy;  // vole/io.h
  net_handle() noexcept = default;
  explicit net_handle(endpoint* owned) noexcept : end_(owned) {}
  endpoint* end_ = nullptr;
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
