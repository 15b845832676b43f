// What dial and listen can be told: net::dial_options, net::listen_options. Included by vole/net.h.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <vole/context.h>
#include <vole/detail/net_address.h>
#include <vole/detail/time.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace net {

// net::dial("tcp", at, {.timeout = 5s, .no_delay = false}). The kernel's refusal of an option that
// was asked for is dial's error.
struct dial_options {
  context ctx = context::background();  // ends it, too
  detail::any_duration timeout = duration::max();  // for all of it
  address local = {};                              // where the connection is to come from
  detail::any_duration keep_alive = std::chrono::seconds(15);  // tcp; zero or less: none
  bool no_delay = true;                                        // tcp
  // What close() does with data that is still unsent: it is sent in the background (none), or the
  // kernel waits for that long, or drops it and resets the connection (zero).
  std::optional<detail::any_duration> linger = {};
  int send_buffer = 0;  // bytes; 0: as the system has it
  int receive_buffer = 0;
  // Called with the socket before it is bound or connected, once for each that is made, on the
  // calling goroutine; addresses are then tried one after the other. What it throws leaves dial.
  std::function<void(int fd)> control = {};
};

// net::listen("tcp", ":80", {.reuse_port = true}). Accepted connections inherit the options.
struct listen_options {
  int backlog = 0;          // connections that wait to be accepted; 0: as many as the system allows
  bool reuse_port = false;  // several sockets may listen there: SO_REUSEPORT
  detail::any_duration keep_alive = std::chrono::seconds(15);  // tcp; zero or less: none
  bool no_delay = true;                                        // tcp
  int send_buffer = 0;                                         // bytes; 0: as the system has it
  int receive_buffer = 0;
  std::function<void(int fd)> control = {};  // called with the socket before it is bound
};

}  // namespace net
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
