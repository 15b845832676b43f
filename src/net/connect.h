// One connection to one address.
//
// Who    dial.cc, in user context.
#pragma once

#include "net/endpoint.h"
#include "net/errors.h"
#include "net/resolve.h"

namespace vole {
inline namespace v0 {
namespace detail {

struct connected {
  endpoint_ptr end;  // null: `why`
  failure why;
};

connected connect(const network_name& n, const net::address& to, const patience& p);

}  // namespace detail
}  // namespace v0
}  // namespace vole
