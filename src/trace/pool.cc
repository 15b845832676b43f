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
constinit store desk;

std::uint32_t index_of(const chunk_header* h) noexcept {
  return static_cast<std::uint32_t>(
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(h) - desk.memory) / kSlotBytes);
}
chunk_header* slot(std::uint32_t i) noexcept {
  return reinterpret_cast<chunk_header*>(desk.memory + std::size_t{i} * kSlotBytes);
}

}  // namespace

int open(std::byte* memory, std::uint32_t slots) noexcept {
  auto* const next = static_cast<std::uint32_t*>(map_pages(slots * sizeof(std::uint32_t)));
  if (next == nullptr) return 12;  // ENOMEM
  for (std::uint32_t i = 0; i < slots; ++i) next[i] = i + 1 < slots ? i + 1 : kNone;
  holding hold(desk.lock);
  desk.memory = memory;
  desk.next = next;
  desk.slots = desk.n_free = slots;
  desk.free = 0;
  desk.first_full = desk.last_full = kNone;
  desk.n_full = 0;
  return 0;
}

void close() noexcept {
  holding hold(desk.lock);
  unmap_pages(desk.next, desk.slots * sizeof(std::uint32_t));
  desk.next = nullptr;
  desk.slots = desk.n_free = 0;
  desk.free = kNone;
}

void forget() noexcept {
  desk.lock.word()->store(0, relaxed);
  desk.next = nullptr;
  desk.slots = desk.n_free = desk.n_full = 0;
  desk.free = desk.first_full = desk.last_full = kNone;
}

chunk_header* take() noexcept {
  holding hold(desk.lock);
  const std::uint32_t i = desk.free;
  if (i == kNone) return nullptr;
  desk.free = desk.next[i];
  --desk.n_free;
  return slot(i);
}

std::uint32_t submit(chunk_header* full) noexcept {
  holding hold(desk.lock);
  const std::uint32_t i = index_of(full);
  desk.next[i] = kNone;
  (desk.last_full != kNone ? desk.next[desk.last_full] : desk.first_full) = i;
  desk.last_full = i;
  return ++desk.n_full;
}

chunk_header* next_full() noexcept {
  holding hold(desk.lock);
  const std::uint32_t i = desk.first_full;
  if (i == kNone) return nullptr;
  desk.first_full = desk.next[i];
  if (desk.first_full == kNone) desk.last_full = kNone;
  --desk.n_full;
  return slot(i);
}

void free(chunk_header* done) noexcept {
  done->magic.store(0, release);  // a ring's reader sees that it is free
  holding hold(desk.lock);
  const std::uint32_t i = index_of(done);
  desk.next[i] = desk.free;
  desk.free = i;
  ++desk.n_free;
}

std::uint32_t left() noexcept {
  holding hold(desk.lock);
  return desk.n_free;
}

std::uint32_t slots() noexcept {
  holding hold(desk.lock);
  return desk.slots;
}

}  // namespace vole::rt::trace::pool
