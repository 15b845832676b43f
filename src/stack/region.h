// Regions: the large reserved ranges that stacks are cut from.
//
//     base                                   base + capacity * stride
//     | guard | stack 0 | guard | stack 1 | ...  reserved, no access ... |
//     '------------- ready: writable -----------'
//     '--- claimed: guarded by the claimer -----'
//
// Who    the depot, under its lock (_locked); guard: the thread that has claimed the stacks;
//        is_guard: the fault handler.
// Law    claimed <= ready <= capacity. A stack is guarded by the thread that claimed
//        it, before anybody else may have it; nobody touches one that is not claimed.
// Note   the table is static, so that is_guard may look at it at any time; a slot
//        being reused may answer wrongly, never badly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"

namespace vole::rt::regions {

// A stack's id: the slot of its region above, its index in it below.
constexpr std::uint32_t kIndexBits = 20;
constexpr std::uint32_t kMostStacks = std::uint32_t{1} << kIndexBits;
constexpr std::uint32_t kMostRegions = 4096;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

constexpr std::uint32_t slot_of(std::uint32_t id) noexcept { return id >> kIndexBits; }
constexpr std::uint32_t index_of(std::uint32_t id) noexcept { return id & (kMostStacks - 1); }

struct region {
  base::atomic<std::byte*> base{nullptr};  // null: the slot is free. Stored last
  base::atomic<std::size_t> stride{0};
  base::atomic<std::uint32_t> ready{0};
  std::uint32_t capacity = 0;
  std::uint32_t claimed = 0;
  std::uint32_t by_mprotect = 0;   // guards that cost mappings
  std::uint32_t* links = nullptr;  // per stack: the next one's id on its free list
  std::uint16_t size_class = 0;
  bool pinned = false;
  bool leaked = false;  // outlived its runtime; never used again
};

region& at(std::uint32_t slot) noexcept;

// A new region for stacks of `bytes`, about `wanted` bytes large; `any`: smaller if the kernel
// refuses that. Returns its slot, or kNone and *error.
enum class how_much : std::uint8_t { all, any };
std::uint32_t create_locked(std::size_t bytes, std::size_t wanted, how_much size,
                            int* error) noexcept;

// Makes up to n more stacks writable. Returns how many; 0: *error says why.
std::size_t grow_locked(region& r, std::size_t n, int* error) noexcept;

// Guards the n stacks from `first` on, which the caller has claimed. Returns how many; *error: why
// not all.
std::uint32_t guard(const region& r, std::uint32_t first, std::uint32_t n, int* error) noexcept;
// The same on a kernel without cheap guards: as many as its limit on mappings allows.
bool lacks_guards(int error) noexcept;
std::uint32_t protect_locked(region& r, std::uint32_t first, std::uint32_t n, int* error) noexcept;

// Unmaps every region that is not pinned; the pinned ones leak.
void release_all_locked() noexcept;

std::size_t guards_by_mprotect() noexcept;  // of all regions, leaked ones included
std::size_t most_guards_by_mprotect() noexcept;
void force_mprotect(bool on) noexcept;

bool is_guard(const void* address) noexcept;  // signal-safe

}  // namespace vole::rt::regions
