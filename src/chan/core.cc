#include "chan/core.h"

#include <limits>
#include <new>
#include <stdexcept>

#include <vole/chan.h>

#include "base/fatal.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

constexpr std::size_t kAlign = alignof(chan_core) > 16 ? alignof(chan_core) : 16;

std::size_t ring_offset(const chan_type& t) noexcept {
  return (sizeof(chan_core) + t.align - 1) / t.align * t.align;
}

std::align_val_t alignment_of(const chan_type& t) noexcept {
  return std::align_val_t{t.align > kAlign ? t.align : kAlign};
}

#ifdef VOLE_CHECKED
void look_for_waiters(const chan_core& c) noexcept {
  if (c.receivers.first != nullptr || c.senders.first != nullptr)
    fatal(
        "chan: the last handle was dropped while somebody waits on the channel. Whoever waits must "
        "have a copy of it, or see it alive until then");
}
#else
void look_for_waiters(const chan_core&) noexcept {}
#endif

}  // namespace

chan_core* chan_make(const chan_type& type, std::size_t capacity) {
  const std::size_t offset = ring_offset(type);
  if (capacity > (std::numeric_limits<std::size_t>::max() / 2 - offset) / type.size)
    throw std::length_error("vole::chan: the capacity is too large");
  void* const memory = ::operator new(offset + capacity * type.size, alignment_of(type));
  return ::new (memory) chan_core(type, capacity, static_cast<std::byte*>(memory) + offset);
}

chan_core* chan_share(chan_core* c) noexcept {
  if (c != nullptr) c->references.fetch_add(1, relaxed);
  return c;
}

void chan_drop(chan_core* c) noexcept {
  if (c == nullptr || c->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  look_for_waiters(*c);
  if (c->end != nullptr) return c->end(c);
  if (c->type.destroy != nullptr)
    for (std::size_t i = 0, n = c->count.load(relaxed); i < n; ++i) c->type.destroy(c->at(c->head + i));
  const std::align_val_t alignment = alignment_of(c->type);
  c->~chan_core();
  ::operator delete(c, alignment);
}

std::size_t chan_size(const chan_core* c) noexcept {
  return c == nullptr || c->end != nullptr ? 0 : c->count.load(relaxed);
}

std::size_t chan_capacity(const chan_core* c) noexcept {
  return c == nullptr || c->end != nullptr ? 0 : c->capacity;
}

void unlink_sender(void* channel, waiter* w) noexcept {
  auto& c = *static_cast<chan_core*>(channel);
  leave_queue(c, c.senders, w);
}

void unlink_receiver(void* channel, waiter* w) noexcept {
  auto& c = *static_cast<chan_core*>(channel);
  leave_queue(c, c.receivers, w);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
