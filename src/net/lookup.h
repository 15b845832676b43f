// Name look-ups on threads of their own.
//
// Who    resolve.cc.
// Law    at most kMostThreads at a time; the rest queue. A thread ends when the queue is empty.
// Note   who gives up leaves the look-up behind; its thread finishes alone and drops the answer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <vole/chan.h>

#include "net/errors.h"
#include "net/socket_address.h"

namespace vole {
inline namespace v0 {
namespace detail {

struct lookup_answer {
  std::vector<net::address> found;
  failure why;
};

struct lookup_job {
  std::string host;  // empty: only the port is to be found
  std::string port;  // a number or a name
  std::string network;
  network_name kind;
  lookup_answer found;  // when `answer` says so; not in it, where an abandoned goroutine loses it
  chan<> answer{1};
};

// Error: no thread could be made.
std::error_code start_lookup(std::shared_ptr<lookup_job> job);

}  // namespace detail
}  // namespace v0
}  // namespace vole
