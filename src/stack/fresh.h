// Stacks of one size: the free ones, and where fresh ones come from.
//
// A claim is a piece of a region that nobody has used. The thread that claims it guards it, without
// the depot's lock, and then settles it.
//
// Who    the depot, under its lock.
// Law    a stack that was claimed is settled once: in a lane's stock, or bare.
// Note   there are eight lanes, and a P takes from one of them: two processors that touch their
//        first pages in one mapping pass the word that locks it to and fro. Measured, a million
//        stacks on two: 2.28 us each, with lanes 2.02.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stack/region.h"

namespace vole::rt::depot {

using regions::kNone;
using regions::region;

inline constexpr std::uint32_t kLanes = 8;
inline constexpr std::size_t kFirstRegion = std::size_t{16} << 20;

// A free list: ids linked through their regions' link arrays, newest first.
struct id_list {
  std::uint32_t head = kNone;
  std::size_t size = 0;

  static std::uint32_t& link(std::uint32_t id) noexcept {
    return regions::at(regions::slot_of(id)).links[regions::index_of(id)];
  }
  void push(std::uint32_t id) noexcept {
    link(id) = head;
    head = id;
    ++size;
  }
  std::uint32_t pop() noexcept {
    const std::uint32_t id = head;
    if (id == kNone) return kNone;
    head = link(id);
    --size;
    return id;
  }
};

// Two generations of hot stacks.
//
// put() adds to `hot`; the stacks that were hot at the last trim lie in `older`. take()
// empties hot first, so the stacks that are still in `older` at the next trim were not
// needed in between: their pages go back. Then hot becomes older, in one assignment.
struct size_class {
  struct lane {
    id_list unused;                 // guarded, never yet handed out
    std::uint32_t current = kNone;  // the region that more come from
    std::size_t next_region = kFirstRegion;
  };

  std::size_t bytes = 0;  // 0: this entry is free
  id_list hot, older, cold;
  lane lanes[kLanes];
  id_list bare;                     // claimed, but the kernel refused the guard
  std::size_t in_trim = 0;          // taken off `older`, being discarded
  std::size_t held = 0;
  std::size_t regions = 0;          // made so far
  std::uint16_t index = 0;          // in the depot's table
};
using lane = size_class::lane;

// Stacks that nobody has used: [first, first + n) of a region, the claimer's to guard.
struct claim {
  region* from = nullptr;
  std::uint32_t slot = 0, first = 0, n = 0;

  std::uint32_t id(std::uint32_t i) const noexcept {
    return (slot << regions::kIndexBits) | (first + i);
  }
};

// None: the kernel refused; *error says why.
claim claim_locked(size_class& c, lane& l, int* error) noexcept;
// Makes a claim's stacks everybody's: those with a guard can be had.
void settle_locked(size_class& c, lane& l, const claim& mine, std::uint32_t guarded,
                   int* error) noexcept;

}  // namespace vole::rt::depot
