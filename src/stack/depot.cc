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
constexpr std::size_t kFirstStep = 16;     // stacks made ready at once: doubling,
constexpr std::size_t kLargestStep = 256;  // up to this many
constexpr std::size_t kLargestStepBytes = std::size_t{64} << 20;
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

// A stack that was never used before. kNone: the kernel refused; *error says why.
std::uint32_t take_fresh_locked(size_class& c, int* error) noexcept {
  if (c.current == kNone || regions::at(c.current).fresh == regions::at(c.current).capacity) {
    if (!add_region_locked(c, error)) return kNone;
  }
  region& r = regions::at(c.current);
  if (r.fresh == r.ready.load(base::relaxed) &&
      regions::prepare_locked(r, next_step(r, c.bytes), error) == 0)
    return kNone;
  return (c.current << regions::kIndexBits) | r.fresh++;
}

std::uint32_t take_one_locked(size_class& c, int* error) noexcept {
  std::uint32_t id = c.hot.pop();
  if (id == kNone) id = c.older.pop();
  if (id == kNone) id = c.cold.pop();
  return id != kNone ? id : take_fresh_locked(c, error);
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
  std::size_t done = 0;
  {
    base::holding hold(mutex);
    size_class* const c = find_class_locked(round_size(bytes));
    if (c == nullptr) *error = ENOMEM;
    while (c != nullptr && done < n) {
      const std::uint32_t id = take_one_locked(*c, error);
      if (id == kNone) break;
      out[done++] = handle(id, c->bytes);
    }
    if (c != nullptr) c->held += done;
  }
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
  base::holding hold(mutex);
  regions::force_mprotect_locked(on);
  said.store(false, base::relaxed);
}

}  // namespace depot

std::byte* stack::top() const noexcept {
  const std::uint32_t colour = regions::index_of(id) * 7 % 32 * 64;
  return lo + bytes - colour;
}

}  // namespace vole::rt
