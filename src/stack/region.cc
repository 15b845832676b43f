#include "stack/region.h"

#include <cerrno>

#include "arch/sanitizer.h"
#include "base/system.h"
#include "os/os.h"

namespace vole::rt::regions {
namespace {

using base::relaxed;

constinit region table[kMostRegions];
constinit base::atomic<std::uint32_t> slots_used{0};  // all regions lie below this slot
constinit base::atomic<std::size_t> protected_pages{0};
constinit base::atomic<bool> mprotect_forced{false};

std::uint32_t find_free_slot() noexcept {
  const std::uint32_t n = slots_used.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i)
    if (table[i].base.load(relaxed) == nullptr) return i;
  return n < kMostRegions ? n : kNone;
}

std::size_t links_bytes(std::size_t capacity) noexcept { return capacity * sizeof(std::uint32_t); }

// Address space for `most` stacks, or for fewer if there is not so much. Sets `capacity`.
std::byte* reserve_some(std::size_t stride, std::size_t most, how_much size,
                        std::uint32_t* capacity) noexcept {
  const std::size_t least = size == how_much::all ? most : 1;
  for (std::size_t n = most; n >= least; n /= 2) {
    *capacity = static_cast<std::uint32_t>(n);
    if (std::byte* const at = os::reserve(n * stride, "vole stacks")) return at;
  }
  return nullptr;
}

std::byte* guard_of(const region& r, std::uint32_t index) noexcept {
  return r.base.load(relaxed) + index * r.stride.load(relaxed);
}

}  // namespace

region& at(std::uint32_t slot) noexcept { return table[slot]; }

std::uint32_t create_locked(std::size_t bytes, std::size_t wanted, how_much size,
                            int* error) noexcept {
  *error = ENOMEM;
  const std::uint32_t slot = find_free_slot();
  if (slot == kNone) return kNone;
  region& r = table[slot];
  const std::size_t stride = bytes + os::page_size();
  std::size_t most = wanted / stride;
  if (most == 0) most = 1;
  if (most > kMostStacks) most = kMostStacks;
  std::byte* const at = reserve_some(stride, most, size, &r.capacity);
  if (at == nullptr) return kNone;
  r.links = static_cast<std::uint32_t*>(base::map_pages(links_bytes(r.capacity)));
  if (r.links == nullptr) {
    os::unreserve(at, r.capacity * stride);
    return kNone;
  }
  r.claimed = 0;
  r.by_mprotect = 0;
  r.pinned = false;
  r.ready.store(0, relaxed);
  r.stride.store(stride, relaxed);
  r.base.store(at, std::memory_order_release);  // pairs: is_guard
  if (slot == slots_used.load(relaxed)) slots_used.store(slot + 1, std::memory_order_release);
  return slot;
}

std::size_t grow_locked(region& r, std::size_t n, int* error) noexcept {
  const std::uint32_t ready = r.ready.load(relaxed);
  const std::uint32_t room = r.capacity - ready;
  std::uint32_t more = n < room ? static_cast<std::uint32_t>(n) : room;
  *error = ENOMEM;
  // Commit may be scarce: half as much may still be granted.
  while (more > 0 &&
         (*error = os::make_writable(guard_of(r, ready), more * r.stride.load(relaxed))) != 0)
    more /= 2;
  r.ready.store(ready + more, std::memory_order_release);  // pairs: is_guard
  return more;
}

std::uint32_t guard(const region& r, std::uint32_t first, std::uint32_t n, int* error) noexcept {
  *error = ENOSYS;
  if (mprotect_forced.load(relaxed)) return 0;
  *error = os::install_guards(guard_of(r, first), r.stride.load(relaxed), n);
  return *error == 0 ? n : 0;
}

bool lacks_guards(int error) noexcept { return error == EINVAL || error == ENOSYS; }

std::uint32_t protect_locked(region& r, std::uint32_t first, std::uint32_t n, int* error) noexcept {
  std::uint32_t done = 0;
  *error = ENOMEM;
  while (done < n && protected_pages.load(relaxed) < most_guards_by_mprotect()) {
    const int refused = os::protect_page(guard_of(r, first + done));
    if (refused != 0) {
      *error = refused;
      break;
    }
    ++done;
    protected_pages.store(protected_pages.load(relaxed) + 1, relaxed);
  }
  r.by_mprotect += done;
  return done;
}

void release_all_locked() noexcept {
  const std::uint32_t n = slots_used.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i) {
    region& r = table[i];
    std::byte* const base = r.base.load(relaxed);
    if (base == nullptr || r.leaked) continue;
    base::unmap_pages(r.links, links_bytes(r.capacity));
    r.links = nullptr;
    r.leaked = r.pinned;
    if (r.leaked) continue;
    r.base.store(nullptr, relaxed);
    protected_pages.store(protected_pages.load(relaxed) - r.by_mprotect, relaxed);
    arch::san_unmapping(base, r.ready.load(relaxed) * r.stride.load(relaxed));
    os::unreserve(base, r.capacity * r.stride.load(relaxed));
  }
}

std::size_t guards_by_mprotect() noexcept { return protected_pages.load(relaxed); }

// Each costs a mapping for itself and one for the stack above it.
std::size_t most_guards_by_mprotect() noexcept { return os::mapping_budget() / 2; }

void force_mprotect(bool on) noexcept { mprotect_forced.store(on, relaxed); }

bool is_guard(const void* address) noexcept {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  const std::uint32_t n = slots_used.load(std::memory_order_acquire);  // pairs: create
  for (std::uint32_t i = 0; i < n; ++i) {
    const region& r = table[i];
    const auto base =
        reinterpret_cast<std::uintptr_t>(r.base.load(std::memory_order_acquire));  // pairs: create
    if (base == 0 || where < base) continue;
    const std::size_t stride = r.stride.load(relaxed);
    const std::size_t ready = r.ready.load(std::memory_order_acquire);  // pairs: grow
    if (stride == 0 || (where - base) / stride >= ready) continue;
    return (where - base) % stride < os::page_size();
  }
  return false;
}

}  // namespace vole::rt::regions
