// The global run queue [7]: an unbounded FIFO under the scheduler lock.
//
// Who    everything but size_now: under the scheduler lock.
// Law    size_ equals the list's length whenever the lock is free.
// Note   size_ is stored seq_cst: for the parking protocol a push here is S1, and
//        the last look reads it without the lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "base/list.h"
#include "queue/runnable.h"

namespace vole::rt {

using namespace base;

class global_queue {
 public:
  using chain = fifo<runnable, &runnable::next>;

  void push_back_locked(runnable* r) noexcept {
    list_.push_back(r);
    publish();
  }
  void push_front_locked(runnable* r) noexcept {
    list_.push_front(r);
    publish();
  }
  void append_locked(runnable* first, runnable* last, std::size_t n) noexcept {
    list_.append_chain(first, last, n);
    publish();
  }
  runnable* pop_locked() noexcept {
    runnable* const r = list_.pop_front();
    publish();
    return r;
  }
  // Takes n out, the first returned, the others given to keep(r) before the size changes: the last
  // look of a worker sees each of them here or there.
  template <class Keep>
  runnable* pop_some_locked(std::size_t n, Keep&& keep) noexcept {
    runnable* const first = n == 0 ? nullptr : list_.pop_front();
    for (std::size_t i = 1; i < n; ++i) keep(list_.pop_front());
    if (n != 0) publish();
    return first;
  }

  void clear_locked() noexcept {
    list_ = {};
    publish();
  }

  std::size_t size_now() const noexcept { return size_.load(seq_cst); }
  std::size_t size_hint() const noexcept { return size_.load(relaxed); }

  // How many a P takes at once [8]: its share and one more, at most half a ring.
  static std::size_t share(std::size_t size, std::size_t procs, std::size_t half) noexcept {
    std::size_t n = size / procs + 1;
    if (n > size) n = size;
    return n < half ? n : half;
  }

 private:
  void publish() noexcept { size_.store(list_.size(), seq_cst); }

  chain list_;
  atomic<std::size_t> size_{0};
};

}  // namespace vole::rt
