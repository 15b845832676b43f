// Name look-ups on threads of their own.
//
// Who    resolve.cc, reverse.cc.
// Law    at most kMostThreads at a time; the rest queue. A thread ends when the queue is empty.
// Note   a caller that gives up leaves the look-up behind; its thread finishes and drops the answer.
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

// A name to look up, and its answer. The answer lies in the job once the channel `answer` says that it
// is there: a channel that an abandoned goroutine waits on would lose a value.
struct name_job {
  name_job() = default;
  name_job(const name_job&) = delete;
  name_job& operator=(const name_job&) = delete;
  virtual ~name_job() = default;
  virtual void look_up() = 0;  // on a thread of ours; may throw bad_alloc
  virtual failure& why() noexcept = 0;
  chan<> answer{1};
};

struct lookup_job final : name_job {
  void look_up() override;
  failure& why() noexcept override { return found.why; }

  std::string host;  // empty: only the port is to be found
  std::string port;  // a number or a name
  std::string network;
  network_name kind;
  lookup_answer found;
};

// Error: no thread could be made.
std::error_code start_lookup(std::shared_ptr<name_job> job);

}  // namespace detail
}  // namespace v0
}  // namespace vole
