#include "base/slab.h"

#include <new>

namespace vole::base {

std::size_t slab_core::allocate(void** out, std::size_t n,
                                void (*construct)(void*) noexcept) noexcept {
  holding hold(lock_);
  std::size_t done = 0;
  while (done < n) {
    chunk* c = last_;
    std::size_t used = c == nullptr ? 0 : c->used.load(relaxed);
    if (c == nullptr || used == c->capacity) {
      c = add_chunk_locked();
      if (c == nullptr) break;
      used = 0;
    }
    while (done < n && used < c->capacity) {
      out[done] = c->record(used++, record_bytes_);
      if (construct != nullptr) construct(out[done]);
      ++done;
    }
    c->used.store(used, std::memory_order_release);  // pairs: for_each
  }
  count_.store(count_.load(relaxed) + done, std::memory_order_release);  // pairs: count
  return done;
}

// A chunk large enough for its header and one record at least.
std::size_t slab_core::chunk_size(std::size_t wanted, std::size_t record) noexcept {
  const std::size_t least = sizeof(chunk) + record;
  return least <= wanted ? wanted : (least + kFirstChunk - 1) / kFirstChunk * kFirstChunk;
}

slab_core::chunk* slab_core::add_chunk_locked() noexcept {
  void* pages = nullptr;
  std::size_t bytes = 0;
  // Under memory pressure a small chunk may still be had where a large one is refused.
  for (std::size_t wanted = next_bytes_; pages == nullptr && wanted >= kFirstChunk; wanted /= 2) {
    bytes = chunk_size(wanted, record_bytes_);
    pages = map_pages(bytes);
  }
  if (pages == nullptr) return nullptr;
  auto* c = new (pages) chunk{};
  c->bytes = bytes;
  c->capacity = (bytes - sizeof(chunk)) / record_bytes_;
  (last_ == nullptr ? first_ : last_->next).store(c, std::memory_order_release);  // pairs: for_each
  last_ = c;
  mapped_.store(mapped_.load(relaxed) + bytes, relaxed);
  next_bytes_ = next_bytes_ * 2 < kLargestChunk ? next_bytes_ * 2 : kLargestChunk;
  return c;
}

void slab_core::pin(const void* record) noexcept {
  holding hold(lock_);
  const auto at = reinterpret_cast<std::uintptr_t>(record);
  for (chunk* c = first_.load(relaxed); c != nullptr; c = c->next.load(relaxed)) {
    const auto begin = reinterpret_cast<std::uintptr_t>(c);
    if (at - begin < c->bytes) c->pinned = true;
  }
}

void slab_core::release_all() noexcept {
  holding hold(lock_);
  chunk* c = first_.load(relaxed);
  first_.store(nullptr, relaxed);
  last_ = nullptr;
  next_bytes_ = kFirstChunk;
  count_.store(0, relaxed);
  mapped_.store(0, relaxed);
  while (c != nullptr) {
    chunk* const next = c->next.load(relaxed);
    if (!c->pinned) unmap_pages(c, c->bytes);
    c = next;
  }
}

}  // namespace vole::base
