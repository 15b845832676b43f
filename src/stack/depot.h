// The depot: where goroutine stacks come from and go back to.
//
// A stack is an index into a region, a large reserved range made writable in
// growing prefixes. Under each stack lies one guard page. Free stacks are linked
// by index, in an array beside the region, so that linking one touches none of
// its pages.
//
// Who    an M in the runtime (take, put: usually in batches through its P's
//        cache); sysmon (trim); the fault handler (is_guard).
// Where  in the runtime or on plain threads; takes lock_rank::depot.
// Law    every stack is exactly one of: held by a caller, hot-free (pages kept),
//        cold-free (pages given back), never yet used. Of the last, some are guarded
//        and can be had, some are being guarded by the thread that claimed them.
// Note   stacks that freed last are handed out first: their pages and cache lines
//        are warm. Guards are made by MADV_GUARD_INSTALL; where the kernel refuses
//        that, by mprotect, up to a share of its mappings, and take() says ENOMEM
//        beyond. A region is about 16 MiB at first and 1 GiB later, smaller where
//        address space is short; there are 4096 at most.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vole::rt {

// A handle, by value. Usable memory is [lo, lo + bytes); the page below lo is the guard.
struct stack {
  std::byte* lo = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t id = 0;  // region and index; stable for the life of the runtime

  explicit operator bool() const noexcept { return lo != nullptr; }
  // The first stack pointer: 16-byte aligned, lowered by (index * 7 % 32) * 64 so that equal
  // frames of different stacks do not fall on the same cache lines.
  std::byte* top() const noexcept;
};

namespace depot {

constexpr std::size_t kMinStackSize = 16 * 1024;
constexpr std::size_t kMaxStackSize = std::size_t{1} << 30;

// Rounds up to whole pages, and to one of four steps from each power of two to the next, so that
// there are at most 65 sizes. Below the minimum: the minimum. Above the maximum: as it is; take()
// refuses it with EINVAL.
std::size_t round_size(std::size_t bytes) noexcept;

// Up to n stacks of round_size(bytes). Returns how many; fewer than n if fewer were free, 0 only if
// the kernel refused more: then *error says why. `who`: a P, so that neighbours get stacks from
// different mappings.
std::size_t take(std::size_t bytes, stack* out, std::size_t n, int* error,
                 std::uint32_t who = 0) noexcept;
void put(const stack* stacks, std::size_t n) noexcept;  // any mixture of sizes

// Gives back the pages of those hot-free stacks that nobody needed since the last call. A stack
// whose pages the kernel keeps (locked memory) stays hot.
// Returns how many hot-free ones remain.
std::size_t trim() noexcept;

// Is this address inside some stack's guard page? Takes no lock. Signal-safe.
bool is_guard(const void* address) noexcept;

struct counts {
  std::size_t held, hot, cold, regions, guards_by_mprotect;
};
counts count() noexcept;

// The runtime ends. Unmaps every region except those with a pinned stack (a zombie's), which
// leak by design. Afterwards the depot is as new.
void pin(const stack& s) noexcept;
void release_all() noexcept;

// As on a kernel without MADV_GUARD_INSTALL, for stacks made ready from now on; not said, since it was
// asked for. For tests: said anew.
void use_mprotect_guards(bool on) noexcept;
void force_mprotect_guards_for_test(bool on) noexcept;

}  // namespace depot
}  // namespace vole::rt
