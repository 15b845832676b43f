// One connection to one address.
//
// Who    dial.cc, in user context.
#pragma once

#include <functional>

#include "net/endpoint.h"
#include "net/errors.h"
#include "net/resolve.h"
#include "net/socket.h"

namespace vole {
inline namespace v0 {
namespace detail {

struct connected {
  endpoint_ptr end;  // null: `why`
  failure why;
};

// The arguments of one dial.
struct dialing {
  network_name n;
  net::address local;  // empty: wherever
  socket_options options;
  const std::function<void(int fd)>* control = nullptr;  // may be null; may throw
};

connected connect(const dialing& d, const net::address& to, const patience& p);

}  // namespace detail
}  // namespace v0
}  // namespace vole
