// pool: the shards (include/vole/detail/pool_shards.h).

#include <vole/detail/pool_shards.h>

#include "base/atomic.h"
#include "base/race.h"
#include "gmp/p.h"
#include "os/os.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using namespace base;

// The processor we are on, or were on. 0 on a plain thread.
std::size_t processor_hint() noexcept {
  if (!rt::on_goroutine()) return 0;
  rt::M* const m = rt::enter();
  const std::size_t id = m->p->id;
  rt::leave(m);
  return id;
}

}  // namespace

pool_node* pool_shards::take() noexcept {
  const std::size_t own = processor_hint();
  for (std::size_t i = 0; i < kShards; ++i) {
    shard& s = shards_[(own + i) % kShards];
    if (s.first.load(relaxed) == nullptr || !s.try_lock()) continue;
    pool_node* const n = s.first.load(relaxed);
    if (n != nullptr) s.first.store(n->next, relaxed);
    s.unlock();
    if (n == nullptr) continue;
    race::acquire(n);
    return n;
  }
  return nullptr;
}

void pool_shards::put(pool_node* n) noexcept {
  race::release(n);
  for (std::size_t i = processor_hint();; ++i) {
    shard& s = shards_[i % kShards];
    if (!s.try_lock()) continue;
    n->next = s.first.load(relaxed);
    s.first.store(n, relaxed);
    return s.unlock();
  }
}

pool_node* pool_shards::take_any() noexcept {
  for (shard& s : shards_) {
    pool_node* const n = s.first.load(acquire);
    if (n == nullptr) continue;
    s.first.store(n->next, relaxed);
    race::acquire(n);
    return n;
  }
  return nullptr;
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
