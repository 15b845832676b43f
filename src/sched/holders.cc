#include "sched/holders.h"

namespace vole::rt {

std::size_t holders::slot_of(const void* object) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  for (std::size_t i = (address >> 4) * 0x9e3779b97f4a7c15u >> 40;; ++i) {
    const std::size_t at = i % kSlots;
    if (entries_[at].object == object || entries_[at].object == nullptr) return at;
  }
}

void holders::wanted(const void* object) noexcept {
  if (object == nullptr || n_ == kMostObjects) return;
  entry& e = entries_[slot_of(object)];
  if (e.object != nullptr) return;
  e.object = object;
  ++n_;
}

void holders::search(std::uint64_t id, const void* waits_on, const walk::memory& used) noexcept {
  if (used.from >= used.to || searched_ + (used.to - used.from) > kMostBytes) return;
  searched_ += used.to - used.from;
  for (std::uintptr_t at = used.from; at < used.to; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    if (!used.read(at, &word) || word < 4096) continue;
    const auto* const object = reinterpret_cast<const void*>(word);
    if (object == waits_on) continue;
    entry& e = entries_[slot_of(object)];
    if (e.object == nullptr || e.found == id) continue;
    e.found = id;
    ++e.n;
  }
}

std::uint64_t holders::holder_of(const void* object) const noexcept {
  if (object == nullptr) return 0;
  const entry& e = entries_[slot_of(object)];
  return e.object != nullptr && e.n == 1 ? e.found : 0;
}

}  // namespace vole::rt
