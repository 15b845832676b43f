#include "stack/fresh.h"

#include "os/os.h"

namespace vole::rt::depot {
namespace {

constexpr std::size_t kLargestRegion = std::size_t{1} << 30;
constexpr std::size_t kFewestStacks = 16;  // in a region of very large stacks
// How many stacks are made writable at once: as many as the region has already. Other threads' first
// touches in the region wait meanwhile.
constexpr std::size_t kFirstStep = 16;
constexpr std::size_t kLargestStep = 1024;
constexpr std::size_t kLargestStepBytes = std::size_t{256} << 20;
// How many stacks are claimed and guarded at once, for the same reason.
constexpr std::uint32_t kFirstClaim = 16;
constexpr std::uint32_t kLargestClaim = 64;

bool add_region_locked(size_class& c, lane& l, regions::how_much size, int* error) noexcept {
  const std::size_t least = kFewestStacks * (c.bytes + os::page_size());
  const std::size_t wanted = l.next_region < least ? least : l.next_region;
  const std::uint32_t slot = regions::create_locked(c.bytes, wanted, size, error);
  if (slot == kNone) return false;
  regions::at(slot).size_class = c.index;
  l.current = slot;
  l.next_region = l.next_region * 2 < kLargestRegion ? l.next_region * 2 : kLargestRegion;
  ++c.regions;
  return true;
}

std::size_t next_step(const region& r, std::size_t bytes) noexcept {
  const std::size_t ready = r.ready.load(base::relaxed);
  std::size_t step = ready < kFirstStep ? kFirstStep : ready;
  if (step > kLargestStep) step = kLargestStep;
  const std::size_t affordable = kLargestStepBytes / bytes;
  if (step > affordable) step = affordable;
  return step == 0 ? 1 : step;
}

claim claim_bare_locked(size_class& c) noexcept {
  const std::uint32_t id = c.bare.pop();
  const std::uint32_t slot = regions::slot_of(id);
  return {&regions::at(slot), slot, regions::index_of(id), 1};
}

bool has_ready(const lane& l) noexcept {
  return l.current != kNone &&
         regions::at(l.current).claimed < regions::at(l.current).ready.load(base::relaxed);
}
bool has_room(const lane& l) noexcept {
  return l.current != kNone && regions::at(l.current).claimed < regions::at(l.current).capacity;
}

// False: it has no room, or the kernel refuses.
bool make_ready_locked(const size_class& c, const lane& l, int* error) noexcept {
  if (!has_room(l)) return false;
  region& r = regions::at(l.current);
  return has_ready(l) || regions::grow_locked(r, next_step(r, c.bytes), error) != 0;
}
bool renew_locked(size_class& c, lane& l, regions::how_much size, int* error) noexcept {
  return !has_room(l) && add_region_locked(c, l, size, error) && make_ready_locked(c, l, error);
}

// One that has something ready. Where memory or address space run short a neighbour's region will
// do, before the last of it goes into a small one. nullptr: none at all.
lane* ready_lane_locked(size_class& c, lane& own, int* error) noexcept {
  if (make_ready_locked(c, own, error)) return &own;
  if (renew_locked(c, own, regions::how_much::all, error)) return &own;
  for (lane& l : c.lanes)
    if (has_ready(l)) return &l;
  for (lane& l : c.lanes)
    if (make_ready_locked(c, l, error)) return &l;
  return renew_locked(c, own, regions::how_much::any, error) ? &own : nullptr;
}

}  // namespace

claim claim_locked(size_class& c, lane& l, int* error) noexcept {
  if (c.bare.size != 0) return claim_bare_locked(c);
  const lane* const from = ready_lane_locked(c, l, error);
  if (from == nullptr) return {};
  region& r = regions::at(from->current);
  std::uint32_t n = r.ready.load(base::relaxed) - r.claimed;
  const std::uint32_t most = r.claimed < kFirstClaim     ? kFirstClaim
                             : r.claimed < kLargestClaim ? r.claimed
                                                         : kLargestClaim;
  if (n > most) n = most;
  const claim mine{&r, from->current, r.claimed, n};
  r.claimed += n;
  return mine;
}

void settle_locked(size_class& c, lane& l, const claim& mine, std::uint32_t guarded,
                   int* error) noexcept {
  if (guarded == 0 && regions::lacks_guards(*error))
    guarded = regions::protect_locked(*mine.from, mine.first, mine.n, error);
  for (std::uint32_t i = mine.n; i-- > 0;) (i < guarded ? l.unused : c.bare).push(mine.id(i));
}

}  // namespace vole::rt::depot
