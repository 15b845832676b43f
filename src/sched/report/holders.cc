#include "sched/report/holders.h"

#include <algorithm>

#include "sched/report/captured.h"

namespace vole::rt {

std::size_t holders::slot_of(const void* object) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  for (std::size_t i = (address >> 4) * 0x9e3779b97f4a7c15u >> 40;; ++i) {
    const std::size_t at = i % kSlots;
    if (entries_[at].object == object || entries_[at].object == nullptr) return at;
  }
}

bool holders::is_new(const void* object) const noexcept {
  return object != nullptr && n_ != kMostObjects && entries_[slot_of(object)].object == nullptr;
}

void holders::wanted(const void* object, std::uintptr_t locker) noexcept {
  if (!is_new(object)) return;
  const std::size_t slot = slot_of(object);
  entries_[slot].object = object;
  entries_[slot].locker = locker;
  ++n_;
  if (locker != 0) {
    by_locker_[sure_++] = static_cast<std::uint16_t>(slot);
  } else {
    ++unsure_;
  }
}

void holders::sort() noexcept {
  std::sort(by_locker_, by_locker_ + sure_, [this](std::uint16_t a, std::uint16_t b) {
    return entries_[a].locker < entries_[b].locker;
  });
}

void holders::match(std::uint64_t id, std::uintptr_t from, std::uintptr_t to) noexcept {
  const std::uint16_t *const first = by_locker_, *const end = first + sure_;
  const std::uint16_t* i =
      std::lower_bound(first, end, from, [this](std::uint16_t slot, std::uintptr_t address) {
        return entries_[slot].locker < address;
      });
  for (; i != end && entries_[*i].locker < to; ++i) entries_[*i].found = id;
}

void holders::note(std::uint64_t id, const void* object) noexcept {
  entry& e = entries_[slot_of(object)];
  if (e.object == nullptr || e.locker != 0 || e.found == id) return;
  e.found = id;
  ++e.n;
}

std::uint64_t holders::holder_of(const void* object) const noexcept {
  if (object == nullptr) return 0;
  const entry& e = entries_[slot_of(object)];
  if (e.object == nullptr) return 0;
  if (e.locker != 0) return e.found != 0 ? e.found : kHeldElsewhere;
  return e.n == 1 ? e.found : 0;
}

}  // namespace vole::rt
