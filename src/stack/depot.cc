#include "stack/depot.h"

#include <bit>
#include <cerrno>

#include "base/fatal.h"
#include "base/lock.h"
#include "os/os.h"
#include "stack/region.h"

namespace vole::rt {
namespace depot {
namespace {

using regions::kNone;
using regions::region;

constexpr std::size_t kFirstRegion = std::size_t{64} << 20;
constexpr std::size_t kLargestRegion = std::size_t{1} << 30;
constexpr std::size_t kFewestStacks = 16;  // in a region of very large stacks
// Stacks made writable at once: as many as there are. Other threads' first touches in the region
// wait meanwhile.
constexpr std::size_t kFirstStep = 16;
constexpr std::size_t kLargestStep = 1024;
constexpr std::size_t kLargestStepBytes = std::size_t{256} << 20;
// Stacks claimed and guarded at once: likewise.
constexpr std::uint32_t kFirstClaim = 16;
constexpr std::uint32_t kLargestClaim = 64;
constexpr std::size_t kClasses = 72;  // round_size() yields 65 sizes at most
constexpr std::size_t kTrimBatch = 32;

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
// What is put goes to `hot`; what was hot at the last trim lies in `older`. take()
// empties hot first, so whatever is still in `older` at the next trim was needed by
// nobody in between: its pages go back. Then hot becomes older, in one assignment.
struct size_class {
  std::size_t bytes = 0;  // 0: this entry is free
  id_list hot, older, cold;
  id_list unused;                   // guarded, never yet handed out
  id_list bare;                     // claimed, but the kernel refused the guard
  std::size_t in_trim = 0;          // taken off `older`, being discarded
  std::size_t held = 0;
  std::uint32_t current = kNone;    // the region that fresh stacks come from
  std::size_t next_region = kFirstRegion;
};

using depot_lock = base::lock<base::lock_rank::depot>;
constinit depot_lock mutex;
constinit size_class classes[kClasses];  // under mutex
constinit std::size_t regions_made = 0;  // under mutex
constinit base::atomic<bool> said{false};

size_class* find_class_locked(std::size_t bytes) noexcept {
  for (size_class& c : classes) {
    if (c.bytes == 0) c.bytes = bytes;
    if (c.bytes == bytes) return &c;
  }
  return nullptr;
}

stack handle(std::uint32_t id, std::size_t bytes) noexcept {
  const region& r = regions::at(regions::slot_of(id));
  std::byte* const guard =
      r.base.load(base::relaxed) + regions::index_of(id) * r.stride.load(base::relaxed);
  return {guard + os::page_size(), static_cast<std::uint32_t>(bytes), id};
}

bool add_region_locked(size_class& c, int* error) noexcept {
  const std::size_t least = kFewestStacks * (c.bytes + os::page_size());
  const std::size_t wanted = c.next_region < least ? least : c.next_region;
  const std::uint32_t slot = regions::create_locked(c.bytes, wanted, error);
  if (slot == kNone) return false;
  regions::at(slot).size_class = static_cast<std::uint16_t>(&c - classes);
  c.current = slot;
  c.next_region = c.next_region * 2 < kLargestRegion ? c.next_region * 2 : kLargestRegion;
  ++regions_made;
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

// Stacks that nobody has used: [first, first + n) of a region, the claimer's to guard.
struct claim {
  region* from = nullptr;
  std::uint32_t slot = 0, first = 0, n = 0;

  std::uint32_t id(std::uint32_t i) const noexcept {
    return (slot << regions::kIndexBits) | (first + i);
  }
};

claim claim_bare_locked(size_class& c) noexcept {
  const std::uint32_t id = c.bare.pop();
  const std::uint32_t slot = regions::slot_of(id);
  return {&regions::at(slot), slot, regions::index_of(id), 1};
}

// None: the kernel refused; *error says why.
claim claim_locked(size_class& c, int* error) noexcept {
  if (c.bare.size != 0) return claim_bare_locked(c);
  if (c.current == kNone || regions::at(c.current).claimed == regions::at(c.current).capacity) {
    if (!add_region_locked(c, error)) return {};
  }
  region& r = regions::at(c.current);
  if (r.claimed == r.ready.load(base::relaxed) &&
      regions::grow_locked(r, next_step(r, c.bytes), error) == 0)
    return {};
  std::uint32_t n = r.ready.load(base::relaxed) - r.claimed;
  const std::uint32_t most = r.claimed < kFirstClaim     ? kFirstClaim
                             : r.claimed < kLargestClaim ? r.claimed
                                                         : kLargestClaim;
  if (n > most) n = most;
  const claim mine{&r, c.current, r.claimed, n};
  r.claimed += n;
  return mine;
}

// Makes a claim's stacks everybody's: those with a guard can be had.
void settle_locked(size_class& c, const claim& mine, std::uint32_t guarded, int* error) noexcept {
  if (guarded == 0 && regions::lacks_guards(*error))
    guarded = regions::protect_locked(*mine.from, mine.first, mine.n, error);
  for (std::uint32_t i = mine.n; i-- > 0;) (i < guarded ? c.unused : c.bare).push(mine.id(i));
}

std::uint32_t take_one_locked(size_class& c) noexcept {
  std::uint32_t id = c.hot.pop();
  if (id == kNone) id = c.older.pop();
  if (id == kNone) id = c.cold.pop();
  return id != kNone ? id : c.unused.pop();
}

std::size_t take_some_locked(size_class& c, stack* out, std::size_t n) noexcept {
  std::size_t done = 0;
  while (done < n) {
    const std::uint32_t id = take_one_locked(c);
    if (id == kNone) break;
    out[done++] = handle(id, c.bytes);
  }
  c.held += done;
  return done;
}

// Up to n of those that were never used. The guards are made without the lock, so that as many
// threads can make them as need some.
std::size_t take_unused(size_class& c, stack* out, std::size_t n, const claim& mine,
                        int* error) noexcept {
  const std::uint32_t guarded = regions::guard(*mine.from, mine.first, mine.n, error);
  base::holding hold(mutex);
  settle_locked(c, mine, guarded, error);
  return take_some_locked(c, out, n);
}

void say_once() noexcept {
  if (regions::guards_by_mprotect() == 0 || said.exchange(true, base::relaxed)) return;
  base::sentence s;
  s << "vole: this kernel refuses MADV_GUARD_INSTALL; stack guards use mprotect, at most "
    << static_cast<std::uint64_t>(regions::most_guards_by_mprotect()) << " stacks\n";
  s.print();
}

// One batch of `older` to `cold`, the lock dropped while the kernel works. False: the kernel
// refuses (locked memory), or nothing is left.
bool trim_batch(size_class& c, std::size_t most) noexcept {
  std::uint32_t ids[kTrimBatch];
  std::size_t n = 0;
  std::size_t bytes = 0;
  {
    base::holding hold(mutex);
    bytes = c.bytes;
    while (n < most && n < kTrimBatch && c.older.size > 0) ids[n++] = c.older.pop();
    c.in_trim += n;
  }
  std::size_t gone = 0;
  while (gone < n && os::discard(handle(ids[gone], bytes).lo, bytes) == 0) ++gone;
  base::holding hold(mutex);
  c.in_trim -= n;
  for (std::size_t i = 0; i < n; ++i) (i < gone ? c.cold : c.older).push(ids[i]);
  return n > 0 && gone == n;
}

std::size_t trim_class(size_class& c) noexcept {
  std::size_t left = 0;
  {
    base::holding hold(mutex);
    if (c.bytes == 0) return 0;
    left = c.older.size;
  }
  while (left > 0 && trim_batch(c, left)) left -= left < kTrimBatch ? left : kTrimBatch;
  base::holding hold(mutex);
  if (c.older.size == 0) {
    c.older = c.hot;
    c.hot = id_list();
  }
  return c.hot.size + c.older.size + c.in_trim;
}

}  // namespace

std::size_t round_size(std::size_t bytes) noexcept {
  if (bytes <= kMinStackSize) bytes = kMinStackSize;
  if (bytes > kMaxStackSize) return bytes;
  const std::size_t page = os::page_size();
  const std::size_t quarter = std::bit_ceil(bytes) / 8;  // of the power of two below
  const std::size_t step = quarter < page ? page : quarter;
  return (bytes + step - 1) / step * step;
}

std::size_t take(std::size_t bytes, stack* out, std::size_t n, int* error) noexcept {
  *error = bytes > kMaxStackSize ? EINVAL : 0;
  if (n == 0 || *error != 0) return 0;
  size_class* c = nullptr;
  std::size_t done = 0;
  claim mine;
  {
    base::holding hold(mutex);
    c = find_class_locked(round_size(bytes));
    if (c == nullptr) {
      *error = ENOMEM;
      return 0;
    }
    done = take_some_locked(*c, out, n);
    if (done == 0) mine = claim_locked(*c, error);
  }
  if (mine.n != 0) done = take_unused(*c, out, n, mine, error);
  say_once();
  if (done > 0) *error = 0;
  return done;
}

void put(const stack* stacks, std::size_t n) noexcept {
  base::holding hold(mutex);
  for (std::size_t i = 0; i < n; ++i) {
    const region& r = regions::at(regions::slot_of(stacks[i].id));
    if (r.links == nullptr) base::fatal("depot: a stack came back after its region was released");
    size_class& c = classes[r.size_class];
    c.hot.push(stacks[i].id);
    --c.held;
  }
}

std::size_t trim() noexcept {
  std::size_t hot = 0;
  for (size_class& c : classes) hot += trim_class(c);
  return hot;
}

bool is_guard(const void* address) noexcept { return regions::is_guard(address); }

counts count() noexcept {
  base::holding hold(mutex);
  counts all{};
  for (const size_class& c : classes) {
    all.held += c.held;
    all.hot += c.hot.size + c.older.size + c.in_trim;
    all.cold += c.cold.size;
  }
  all.regions = regions_made;
  all.guards_by_mprotect = regions::guards_by_mprotect();
  return all;
}

void pin(const stack& s) noexcept {
  base::holding hold(mutex);
  regions::at(regions::slot_of(s.id)).pinned = true;
}

void release_all() noexcept {
  base::holding hold(mutex);
  regions::release_all_locked();
  for (size_class& c : classes) c = size_class();
  regions_made = 0;
}

void force_mprotect_guards_for_test(bool on) noexcept {
  regions::force_mprotect(on);
  said.store(false, base::relaxed);
}

}  // namespace depot

std::byte* stack::top() const noexcept {
  const std::uint32_t colour = regions::index_of(id) * 7 % 32 * 64;
  return lo + bytes - colour;
}

}  // namespace vole::rt
