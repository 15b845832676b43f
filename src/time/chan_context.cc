// include/vole/chan.h: send and receive with a context.
//
// A select of two cases: the operation, and the channel that is closed when the context is
// cancelled. A waiter keeps both channels alive (chan/core.h).

#include <cstddef>

#include <vole/context.h>
#include <vole/detail/select_core.h>

#include "time/cancel.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

chan_status operate_with(select_kind kind, chan_core* c, void* slot, const context& ctx) noexcept {
  if (ctx.err()) return chan_status::canceled;
  const cancel_node* const n = canceler_of(ctx);
  std::byte nothing{};
  const select_op ops[] = {{c, slot, kind},
                           {n != nullptr ? access::core(n->done) : nullptr, &nothing, select_kind::receive}};
  select_room<2> room;
  const select_result r = select_core(ops, 2, room.data());
  if (r.index == 1) return chan_status::canceled;
  return r.ok ? chan_status::ok : chan_status::closed;
}

}  // namespace

chan_status chan_send_with(chan_core* c, void* value, const context& ctx) noexcept {
  return operate_with(select_kind::send, c, value, ctx);
}

chan_status chan_recv_with(chan_core* c, void* room, const context& ctx) noexcept {
  return operate_with(select_kind::receive, c, room, ctx);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
