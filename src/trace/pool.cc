#include "trace/pool.h"

#include "base/lock.h"
#include "base/system.h"

namespace vole::rt::trace::pool {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Lists run through `next`, beside the slots: those are a file's.
struct store {
  base::lock<lock_rank::chunks> lock;
  std::byte* memory VOLE_GUARDED_BY(lock) = nullptr;
  std::uint32_t* next VOLE_GUARDED_BY(lock) = nullptr;
  std::uint32_t slots VOLE_GUARDED_BY(lock) = 0;
  std::uint32_t free VOLE_GUARDED_BY(lock) = kNone, n_free VOLE_GUARDED_BY(lock) = 0;
  std::uint32_t first_full VOLE_GUARDED_BY(lock) = kNone, last_full VOLE_GUARDED_BY(lock) = kNone;
  std::uint32_t n_full VOLE_GUARDED_BY(lock) = 0;
};
constinit store own;

std::uint32_t index_of_locked(const chunk_header* h) noexcept VOLE_REQUIRES(own.lock) {
  return static_cast<std::uint32_t>(
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(h) - own.memory) / kSlotBytes);
}
chunk_header* slot_locked(std::uint32_t i) noexcept VOLE_REQUIRES(own.lock) {
  return reinterpret_cast<chunk_header*>(own.memory + std::size_t{i} * kSlotBytes);
}

chunk_header* take_if_more_than(std::uint32_t left) noexcept {
  holding hold(own.lock);
  if (own.n_free <= left) return nullptr;
  const std::uint32_t i = own.free;
  own.free = own.next[i];
  --own.n_free;
  return slot_locked(i);
}

}  // namespace

int open(std::byte* memory, std::uint32_t slots) noexcept {
  auto* const next = static_cast<std::uint32_t*>(map_pages(slots * sizeof(std::uint32_t)));
  if (next == nullptr) return 12;  // ENOMEM
  for (std::uint32_t i = 0; i < slots; ++i) next[i] = i + 1 < slots ? i + 1 : kNone;
  holding hold(own.lock);
  own.memory = memory;
  own.next = next;
  own.slots = own.n_free = slots;
  own.free = 0;
  own.first_full = own.last_full = kNone;
  own.n_full = 0;
  return 0;
}

void close() noexcept {
  holding hold(own.lock);
  unmap_pages(own.next, own.slots * sizeof(std::uint32_t));
  own.next = nullptr;
  own.slots = own.n_free = 0;
  own.free = kNone;
}

void forget() noexcept VOLE_UNCHECKED {  // one thread, and the lock may be the parent's
  own.lock.word()->store(0, relaxed);
  own.next = nullptr;
  own.slots = own.n_free = own.n_full = 0;
  own.free = own.first_full = own.last_full = kNone;
}

chunk_header* take() noexcept { return take_if_more_than(kLast); }
chunk_header* take_last() noexcept { return take_if_more_than(0); }

std::uint32_t submit(chunk_header* full) noexcept {
  holding hold(own.lock);
  const std::uint32_t i = index_of_locked(full);
  own.next[i] = kNone;
  (own.last_full != kNone ? own.next[own.last_full] : own.first_full) = i;
  own.last_full = i;
  return ++own.n_full;
}

chunk_header* next_full() noexcept {
  holding hold(own.lock);
  const std::uint32_t i = own.first_full;
  if (i == kNone) return nullptr;
  own.first_full = own.next[i];
  if (own.first_full == kNone) own.last_full = kNone;
  --own.n_full;
  return slot_locked(i);
}

void free(chunk_header* done) noexcept {
  done->magic.store(0, release);  // a ring's reader sees that it is free
  holding hold(own.lock);
  const std::uint32_t i = index_of_locked(done);
  own.next[i] = own.free;
  own.free = i;
  ++own.n_free;
}

std::uint32_t left() noexcept {
  holding hold(own.lock);
  return own.n_free;
}

std::uint32_t slots() noexcept {
  holding hold(own.lock);
  return own.slots;
}

}  // namespace vole::rt::trace::pool
