// local: the values of one goroutine, or of one plain thread.
//
// Who    the goroutine (or thread) itself, in user context. When the runtime ends, the
//        ender, for goroutines that never finished.
// Law    a goroutine's table hangs off its G and is gone before the G is used again: a
//        new goroutine never sees the values of another, whatever stack it runs on.
// Note   a destructor may use locals, and so make them anew: the end goes on until
//        nothing is left.
// Proof  tests/api/local_test.cc

#include <new>
#include <utility>

#include <vole/detail/left_behind.h>
#include <vole/detail/local_values.h>

#include "base/atomic.h"
#include "gmp/g.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
namespace detail {
namespace {

using namespace base;

struct local_table : rt::goroutine_locals {
  static constexpr std::size_t kBuckets = 16;

  local_table() noexcept : goroutine_locals{&finish, nullptr} {}

  local_value*& bucket(std::uint64_t key) noexcept { return buckets[key % kBuckets]; }

  local_value* find(std::uint64_t key) noexcept {
    local_value* v = bucket(key);
    while (v != nullptr && v->key != key) v = v->chain;
    return v;
  }

  void add(local_value* v) noexcept {
    v->chain = std::exchange(bucket(v->key), v);
    v->older = std::exchange(newest, v);
  }

  // The newest stands first in its chain.
  local_value* remove_newest() noexcept {
    local_value* const v = newest;
    if (v == nullptr) return nullptr;
    newest = v->older;
    bucket(v->key) = v->chain;
    return v;
  }

  static void finish(rt::goroutine_locals* self, bool destroy) noexcept {
    auto* const t = static_cast<local_table*>(self);
    while (local_value* const v = t->remove_newest()) v->end(v, destroy);
    delete t;
  }

  local_value* newest = nullptr;
  local_value* buckets[kBuckets] = {};
};

// A plain thread's table. The pointer outlives its guard: a local that is used in a thread's very last
// destructors gets a new value, which is then never destroyed.
constinit thread_local rt::goroutine_locals* of_this_thread = nullptr;

struct thread_guard {
  thread_guard() noexcept {}
  ~thread_guard() {
    if (of_this_thread == nullptr) return;
    of_this_thread->end(of_this_thread, true);
    of_this_thread = nullptr;
  }
};

// Not inlined where goroutines could change threads between its address and its use.
[[gnu::noinline]] rt::goroutine_locals** thread_place() noexcept { return &of_this_thread; }

[[gnu::noinline]] void watch_thread_end() {
  thread_local thread_guard guard;
  static_cast<void>(&guard);
}

// A goroutine's table is under whatever the library owns in its frames (sched/life/belonging.h).
rt::goroutine_locals** place() noexcept {
  rt::G* const g = rt::this_goroutine();
  if (g == nullptr) return thread_place();
  rt::goroutine_locals** at = &g->wait.locals;
  while (*at != nullptr && (*at)->end != &local_table::finish) at = &(*at)->under;
  return at;
}

constinit atomic<std::uint64_t> next_key{1};

}  // namespace

std::uint64_t local_key::choose() noexcept {
  std::uint64_t none = 0;
  const std::uint64_t mine = next_key.fetch_add(1, relaxed);
  return key_.compare_exchange_strong(none, mine, relaxed, relaxed) ? mine : none;
}

local_value* find_local_value(std::uint64_t key) noexcept {
  end_if_left_behind();
  auto* const t = static_cast<local_table*>(*place());
  return t != nullptr ? t->find(key) : nullptr;
}

void add_local_value(local_value* v) {
  rt::goroutine_locals** const at = place();
  auto* t = static_cast<local_table*>(*at);
  if (t == nullptr) {
    *at = t = new local_table;
    if (!rt::on_goroutine()) watch_thread_end();
  }
  t->add(v);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
