#include "trace/pool.h"

#include "base/lock.h"
#include "base/system.h"

namespace vole::rt::trace::pool {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// Lists run through `next`, beside the slots: those are a file's.
struct store {
  base::lock<lock_rank::chunks> lock;
  std::byte* memory = nullptr;
  std::uint32_t* next = nullptr;
  std::uint32_t slots = 0, free = kNone, n_free = 0;
  std::uint32_t first_full = kNone, last_full = kNone, n_full = 0;
};
constinit store shared;

std::uint32_t index_of(const chunk_header* h) noexcept {
  return static_cast<std::uint32_t>(
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(h) - shared.memory) / kSlotBytes);
}
chunk_header* slot(std::uint32_t i) noexcept {
  return reinterpret_cast<chunk_header*>(shared.memory + std::size_t{i} * kSlotBytes);
}

}  // namespace

int open(std::byte* memory, std::uint32_t slots) noexcept {
  auto* const next = static_cast<std::uint32_t*>(map_pages(slots * sizeof(std::uint32_t)));
  if (next == nullptr) return 12;  // ENOMEM
  for (std::uint32_t i = 0; i < slots; ++i) next[i] = i + 1 < slots ? i + 1 : kNone;
  holding hold(shared.lock);
  shared.memory = memory;
  shared.next = next;
  shared.slots = shared.n_free = slots;
  shared.free = 0;
  shared.first_full = shared.last_full = kNone;
  shared.n_full = 0;
  return 0;
}

void close() noexcept {
  holding hold(shared.lock);
  unmap_pages(shared.next, shared.slots * sizeof(std::uint32_t));
  shared.next = nullptr;
  shared.slots = shared.n_free = 0;
  shared.free = kNone;
}

void forget() noexcept {
  shared.lock.word()->store(0, relaxed);
  shared.next = nullptr;
  shared.slots = shared.n_free = shared.n_full = 0;
  shared.free = shared.first_full = shared.last_full = kNone;
}

chunk_header* take() noexcept {
  holding hold(shared.lock);
  const std::uint32_t i = shared.free;
  if (i == kNone) return nullptr;
  shared.free = shared.next[i];
  --shared.n_free;
  return slot(i);
}

std::uint32_t submit(chunk_header* full) noexcept {
  holding hold(shared.lock);
  const std::uint32_t i = index_of(full);
  shared.next[i] = kNone;
  (shared.last_full != kNone ? shared.next[shared.last_full] : shared.first_full) = i;
  shared.last_full = i;
  return ++shared.n_full;
}

chunk_header* next_full() noexcept {
  holding hold(shared.lock);
  const std::uint32_t i = shared.first_full;
  if (i == kNone) return nullptr;
  shared.first_full = shared.next[i];
  if (shared.first_full == kNone) shared.last_full = kNone;
  --shared.n_full;
  return slot(i);
}

void free(chunk_header* done) noexcept {
  done->magic.store(0, release);  // a ring's reader sees that it is free
  holding hold(shared.lock);
  const std::uint32_t i = index_of(done);
  shared.next[i] = shared.free;
  shared.free = i;
  ++shared.n_free;
}

std::uint32_t left() noexcept {
  holding hold(shared.lock);
  return shared.n_free;
}

std::uint32_t slots() noexcept {
  holding hold(shared.lock);
  return shared.slots;
}

}  // namespace vole::rt::trace::pool
