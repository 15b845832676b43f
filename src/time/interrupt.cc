// The waits that a context ends: its half of sched/wait/interrupt.h.

#include <utility>

#include "time/cancel.h"
#include "time/error_of.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;

rt::interrupter* interrupter_of(const context_node* n) noexcept {
  return n != nullptr ? n->canceler : nullptr;
}

std::error_code error_of(const context_node* n) noexcept {
  return n != nullptr && n->canceler != nullptr ? n->canceler->error() : std::error_code();
}

bool cancel_node::arm(rt::interrupt& i) noexcept {
  lock.acquire_next_of_kind();
  const bool is_live = now.load(relaxed) == live;
  if (is_live) {
    i.prev = nullptr;
    i.next = std::exchange(interrupts, &i);
    if (i.next != nullptr) i.next->prev = &i;
    i.linked = true;
  }
  lock.release();
  return is_live;
}

bool cancel_node::disarm(rt::interrupt& i) noexcept {
  holding hold(lock);
  if (!i.linked) return false;
  (i.prev != nullptr ? i.prev->next : interrupts) = i.next;
  if (i.next != nullptr) i.next->prev = i.prev;
  i.linked = false;
  return true;
}

rt::interrupt* cancel_node::claim_all_locked(M* m) noexcept {
  rt::interrupt* claimed = nullptr;
  while (interrupts != nullptr) {
    rt::interrupt* const i = std::exchange(interrupts, interrupts->next);
    i->linked = false;
    if (i->claim(*i, m)) i->next = std::exchange(claimed, i);
  }
  return claimed;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
