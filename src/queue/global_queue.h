// The global run queue [7]: an unbounded FIFO under the scheduler lock.
//
// Who    everything but size_now: under the scheduler lock.
// Law    size_ equals the number held whenever the lock is free. No crate is empty.
// Note   size_ is stored seq_cst: for the parking protocol a push here is S1, and
//        the last look reads it without the lock.
//        Pointers in crates, not a list: of a million goroutines that wait here none is
//        in the cache, and to follow links through them is a miss for each, in turn, under
//        the lock. Crates are kept for the next time; the first one is our own. When
//        the kernel refuses one, goroutines are linked behind the last crate after all,
//        those for the front, too: nobody is lost, but a few may overtake them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/atomic.h"
#include "base/list.h"
#include "base/slab.h"
#include "queue/runnable.h"

namespace vole::rt {

using namespace base;

struct queue_crate {
  static constexpr std::uint32_t kRoom = 126;

  queue_crate* next;
  std::uint32_t begin, end;  // held[begin, end)
  runnable* held[kRoom];
};
static_assert(sizeof(queue_crate) == 1024);

template <class Crates>
class basic_global_queue {
 public:
  constexpr basic_global_queue() noexcept = default;

  void push_back_locked(runnable* r) noexcept {
    put(r);
    publish();
  }
  void push_front_locked(runnable* r) noexcept {
    put_in_front(r);
    publish();
  }
  void append_locked(std::span<runnable* const> some, runnable* last) noexcept {
    for (runnable* r : some) put(r);
    push_back_locked(last);
  }
  void append_locked(runnable* first, std::size_t n) noexcept {  // linked by `next`
    for (runnable* r = first; n > 0; --n) {
      runnable* const next = r->next;
      put(r);
      r = next;
    }
    publish();
  }
  runnable* pop_locked() noexcept {
    runnable* const r = take();
    publish();
    return r;
  }
  // Takes n out, the first returned, the others given to keep(r) before the size changes: the last
  // look of a worker sees each of them here or there.
  template <class Keep>
  runnable* pop_some_locked(std::size_t n, Keep&& keep) noexcept {
    runnable* const first = n == 0 ? nullptr : take();
    for (std::size_t i = 1; i < n; ++i) keep(take());
    if (n != 0) publish();
    return first;
  }

  void clear_locked() noexcept {  // and gives the memory back
    first_ = last_ = nullptr;
    spare_ = {};
    linked_ = {};
    held_ = 0;
    own_in_use_ = false;
    crates_.release_all();
    publish();
  }

  std::size_t size_now() const noexcept { return size_.load(seq_cst); }
  std::size_t size_hint() const noexcept { return size_.load(relaxed); }
  // For a look from outside (root/root.h).
  static constexpr std::uint32_t place_of_size() noexcept {
    return offsetof(basic_global_queue, size_);
  }

  // How many a P takes at once [8]: its share and one more, at most half a ring.
  static std::size_t share(std::size_t size, std::size_t procs, std::size_t half) noexcept {
    std::size_t n = size / procs + 1;
    if (n > size) n = size;
    return n < half ? n : half;
  }

 private:
  using crate = queue_crate;

  void publish() noexcept { size_.store(held_, seq_cst); }

  // nullptr: the kernel refused memory.
  crate* open_crate(std::uint32_t at) noexcept {
    crate* c = spare_.pop();
    if (c == nullptr) c = own_in_use_ ? crates_.allocate_raw() : &own_;
    if (c == nullptr) return nullptr;
    if (c == &own_) own_in_use_ = true;
    c->next = nullptr;
    c->begin = c->end = at;
    return c;
  }

  void put(runnable* r) noexcept {
    ++held_;
    if (last_ == nullptr || last_->end == crate::kRoom) {
      crate* const c = linked_.empty() ? open_crate(0) : nullptr;
      if (c == nullptr) return linked_.push_back(r);
      (last_ == nullptr ? first_ : last_->next) = c;
      last_ = c;
    }
    last_->held[last_->end++] = r;
  }

  void put_in_front(runnable* r) noexcept {
    ++held_;
    if (first_ == nullptr || first_->begin == 0) {
      crate* const c = open_crate(crate::kRoom);
      if (c == nullptr) return linked_.push_front(r);
      c->next = first_;
      if (last_ == nullptr) last_ = c;
      first_ = c;
    }
    first_->held[--first_->begin] = r;
  }

  runnable* take() noexcept {
    if (held_ == 0) return nullptr;
    --held_;
    crate* const c = first_;
    if (c == nullptr) return linked_.pop_front();
    runnable* const r = c->held[c->begin++];
    if (c->begin == c->end) {
      first_ = c->next;
      if (first_ == nullptr) last_ = nullptr;
      spare_.push(c);
    }
    return r;
  }

  crate* first_ = nullptr;
  crate* last_ = nullptr;
  std::size_t held_ = 0;
  fifo<runnable, &runnable::next> linked_;  // behind the last crate, for want of memory
  lifo<crate, &crate::next> spare_;
  bool own_in_use_ = false;                 // or among the spare ones
  Crates crates_;
  atomic<std::size_t> size_{0};
  crate own_{};
};

using global_queue = basic_global_queue<slab<queue_crate>>;

}  // namespace vole::rt
