// From "host:port" to addresses.
//
// Who    resolve, dial, listen and reverse look-ups; any goroutine or plain thread, in user context.
// Law    addresses that need no look-up (literals, an empty host, unix paths, numeric ports) are
//        answered at once. Names are looked up by threads of their own (getaddrinfo blocks for as
//        long as it likes): the caller waits on a channel, and may give up.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <vole/context.h>
#include <vole/detail/net_address.h>

#include "net/errors.h"
#include "net/socket_address.h"

namespace vole {
inline namespace v0 {
namespace detail {

// How long a caller waits.
struct patience {
  const context* ctx = nullptr;  // null: until the deadline only
  std::int64_t deadline = kNeverNs;

  static patience of(const context& c) noexcept {
    const auto d = c.deadline();
    return {&c, d ? to_ns(*d) : kNeverNs};
  }
  // None: go on.
  std::error_code over() const noexcept;
};

enum class purpose : std::uint8_t { dial, listen };

struct name_job;
failure wait_for_answer(name_job& job, const std::string& name, const patience& p);

// Empty result: `f` says why.
std::vector<net::address> find_addresses(const network_name& n, std::string_view network,
                                         std::string_view at, purpose what, const patience& p,
                                         failure& f);

}  // namespace detail
}  // namespace v0
}  // namespace vole
