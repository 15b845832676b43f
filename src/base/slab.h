// Type-stable records: memory that, once a T, stays a T until the runtime ends.
//
// Who    any thread (allocate); for_each and count also in signal context or while
//        the program dies.
// Where  in the runtime; allocate takes lock_rank::slab.
// Law    the records of a chunk are handed out in order: [0, used) have been, the
//        rest is untouched. Nothing is ever taken back: callers keep free lists.
// Note   memory is zero when handed out. What allocate_raw and allocate_batch give is not
//        constructed: for_each may show it before a constructor has run. What make gives is.
//        release_all is for the end: nobody else may use the slab meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "base/atomic.h"
#include "base/lock.h"

namespace vole::base {

class slab_core {
 public:
  static constexpr std::size_t kFirstChunk = 64 * 1024;
  static constexpr std::size_t kLargestChunk = 4 * 1024 * 1024;
  static constexpr std::size_t kAlignment = 64;

  explicit constexpr slab_core(std::size_t record_bytes) noexcept
      : record_bytes_((record_bytes + kAlignment - 1) / kAlignment * kAlignment) {}
  slab_core(const slab_core&) = delete;
  slab_core& operator=(const slab_core&) = delete;

  // Up to n records. Returns how many; fewer only if the kernel refused memory. `construct` is run on
  // each before for_each shows it; it takes no lock.
  std::size_t allocate(void** out, std::size_t n, void (*construct)(void*) noexcept = nullptr) noexcept;

  std::size_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  std::size_t mapped_bytes() const noexcept { return mapped_.load(relaxed); }
  std::size_t record_bytes() const noexcept { return record_bytes_; }

  template <class Fn>
  void for_each(Fn&& fn) const {
    for (chunk* c = first_.load(std::memory_order_acquire); c != nullptr;  // pairs: add_chunk_locked
         c = c->next.load(std::memory_order_acquire)) {
      const std::size_t used = c->used.load(std::memory_order_acquire);  // pairs: allocate
      for (std::size_t i = 0; i < used; ++i) fn(c->record(i, record_bytes_));
    }
  }

  void pin(const void* record) noexcept;
  void release_all() noexcept;

  // Where a look from outside finds the records (root/root.h).
  struct offsets {
    std::uint32_t record_bytes, first, next, used, records;
  };
  static constexpr offsets places() noexcept {
    return {offsetof(slab_core, record_bytes_), offsetof(slab_core, first_), offsetof(chunk, next),
            offsetof(chunk, used), sizeof(chunk)};
  }

 private:
  // The first bytes of every chunk.
  struct alignas(kAlignment) chunk {
    atomic<chunk*> next;       // written once, under lock_
    atomic<std::size_t> used;  // records; written under lock_
    std::size_t capacity;      // records
    std::size_t bytes;
    bool pinned;  // under lock_

    void* record(std::size_t i, std::size_t size) noexcept {
      return reinterpret_cast<std::byte*>(this) + sizeof(chunk) + i * size;
    }
  };

  chunk* add_chunk_locked() noexcept VOLE_REQUIRES(lock_);
  static std::size_t chunk_size(std::size_t wanted, std::size_t record) noexcept;

  const std::size_t record_bytes_;
  lock<lock_rank::slab> lock_;
  atomic<chunk*> first_{nullptr};
  chunk* last_ VOLE_GUARDED_BY(lock_) = nullptr;
  std::size_t next_bytes_ VOLE_GUARDED_BY(lock_) = kFirstChunk;
  atomic<std::size_t> count_{0};
  atomic<std::size_t> mapped_{0};
};

template <class T>
class slab {
 public:
  static_assert(alignof(T) <= slab_core::kAlignment);

  constexpr slab() noexcept = default;

  // Zeroed, not constructed. nullptr: the kernel refused memory.
  T* allocate_raw() noexcept {
    void* record = nullptr;
    return core_.allocate(&record, 1) == 1 ? static_cast<T*>(record) : nullptr;
  }

  // The same, constructed.
  T* make() noexcept {
    void* record = nullptr;
    const auto construct = [](void* at) noexcept { ::new (at) T; };
    return core_.allocate(&record, 1, construct) == 1 ? static_cast<T*>(record) : nullptr;
  }

  // Up to n records. Returns how many; fewer only if the kernel refused memory.
  std::size_t allocate_batch(T** out, std::size_t n) noexcept {
    constexpr std::size_t kStep = 32;
    void* records[kStep];
    std::size_t done = 0;
    while (done < n) {
      const std::size_t wanted = n - done < kStep ? n - done : kStep;
      const std::size_t got = core_.allocate(records, wanted);
      for (std::size_t i = 0; i < got; ++i) out[done + i] = static_cast<T*>(records[i]);
      done += got;
      if (got < wanted) break;
    }
    return done;
  }

  // fn(T*) for every record handed out before the call, and perhaps some later ones. Takes no
  // lock. Signal-safe if fn is.
  template <class Fn>
  void for_each(Fn&& fn) const {
    core_.for_each([&fn](void* record) { fn(static_cast<T*>(record)); });
  }

  std::size_t count() const noexcept { return core_.count(); }
  std::size_t mapped_bytes() const noexcept { return core_.mapped_bytes(); }

  // The chunk that holds t survives release_all; it leaks by design.
  void pin(const T* t) noexcept { core_.pin(t); }
  // Unmaps every chunk that is not pinned and forgets them all: the slab is as new.
  void release_all() noexcept { core_.release_all(); }

 private:
  slab_core core_{sizeof(T)};
};

}  // namespace vole::base
