// chan_status: what an operation on a channel came to that need not succeed. Included by vole/chan.h.
#pragma once

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

enum class chan_status {
  ok,           // the value has been sent, or received
  would_block,  // nobody was ready, and the call does not wait
  closed,       // the channel is closed; who receives: and drained
  timeout,      // the time is over
  canceled,     // the context is done
};

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
