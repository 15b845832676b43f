// Channels that ended where nothing may be freed: inside the runtime (a timer's tick, a value's move),
// or, if they contain a timer, at its end. They wait here until somebody in user context frees them.
//
// Who    chan_retire: anywhere. chan_end_retired: user context.

#include <utility>

#include "chan/core.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constinit atomic<chan_core*> retired{nullptr};

}  // namespace

void chan_retire(chan_core* c) noexcept {
  chan_core* next = retired.load(relaxed);
  do c->next_retired = next;
  while (!retired.compare_exchange_strong(next, c, release, relaxed));  // pairs: chan_end_retired
}

void chan_end_retired() noexcept {
  if (retired.load(relaxed) == nullptr) [[likely]] return;
  chan_core* c = retired.exchange(nullptr, acquire);  // pairs: chan_retire
  while (c != nullptr) chan_drop_last(std::exchange(c, c->next_retired));
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
