// What a context refers to: a counted record, linked to the one it was derived from. Not for users.
//
// The background is no record: null. A record keeps its parent, and so all above it, alive.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <vole/detail/race.h>

namespace vole::rt {
class interrupter;
}

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

class cancel_node;  // src/time/cancel.h
class value_node;

class context_node {
 public:
  // Shares the parent, and inherits its canceler and the place where values are looked up.
  explicit context_node(context_node* from) noexcept : parent(from) {
    if (from == nullptr) return;
    unseen::fetch_add(from->references, 1, std::memory_order_relaxed);
    canceler = from->canceler;
    values = from->values;
  }
  context_node(const context_node&) = delete;
  context_node& operator=(const context_node&) = delete;
  virtual ~context_node() = default;  // leaves the parent to drop_context

  std::atomic<std::uint32_t> references{1};
  context_node* const parent;
  cancel_node* canceler = nullptr;     // the nearest at or above; null: it is never cancelled
  const value_node* values = nullptr;  // the nearest at or above; null: there are none
};

inline context_node* share_context(context_node* n) noexcept {
  if (n != nullptr) unseen::fetch_add(n->references, 1, std::memory_order_relaxed);
  return n;
}

// The source of interrupts of this context (src/sched/wait/interrupt.h). Null: it is never cancelled.
rt::interrupter* interrupter_of(const context_node* n) noexcept;

// A loop: a chain of a million contexts must not be a million calls deep.
inline void drop_context(context_node* n) noexcept {
  while (n != nullptr) {
    race::release(&n->references);
    if (unseen::fetch_sub(n->references, 1, std::memory_order_acq_rel) != 1) return;
    race::acquire(&n->references);
    context_node* const above = n->parent;
    delete n;
    n = above;
  }
}

class value_node : public context_node {
 public:
  value_node(context_node* from, const void* k, const void* v) noexcept
      : context_node(from), older(values), key(k), value(v) {
    values = this;
  }

  const value_node* const older;  // the next one above
  const void* const key;          // a context_key's address
  const void* const value;
};

inline const void* find_value(const context_node* n, const void* key) noexcept {
  if (n == nullptr) return nullptr;
  const value_node* v = n->values;
  while (v != nullptr && v->key != key) v = v->older;
  return v != nullptr ? v->value : nullptr;
}

template <class T>
struct value_room {
  const T value_;
};

// The room comes first: a move that throws must not have shared the parent yet.
template <class T>
class typed_value final : private value_room<T>, public value_node {
 public:
  typed_value(context_node* from, const void* k, T&& v)
      : value_room<T>{std::move(v)}, value_node(from, k, std::addressof(this->value_)) {}
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
