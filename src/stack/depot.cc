#include "stack/depot.h"

#include <bit>
#include <cerrno>

#include "base/fatal.h"
#include "base/lock.h"
#include "os/os.h"
#include "stack/fresh.h"
#include "stack/region.h"

namespace vole::rt {
namespace depot {
namespace {

constexpr std::size_t kClasses = 72;  // round_size() yields 65 sizes at most
constexpr std::size_t kTrimBatch = 32;

using depot_lock = base::lock<base::lock_rank::depot>;
constinit depot_lock mutex;
constinit size_class classes[kClasses];  // under mutex
constinit base::atomic<bool> said{false};

size_class* find_class_locked(std::size_t bytes) noexcept VOLE_REQUIRES(mutex) {
  for (size_class& c : classes) {
    if (c.bytes == 0) {
      c.bytes = bytes;
      c.index = static_cast<std::uint16_t>(&c - classes);
    }
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

std::uint32_t take_one_locked(size_class& c, lane& l) noexcept VOLE_REQUIRES(mutex) {
  std::uint32_t id = c.hot.pop();
  if (id == kNone) id = c.older.pop();
  if (id == kNone) id = c.cold.pop();
  return id != kNone ? id : l.unused.pop();
}

std::size_t take_some_locked(size_class& c, lane& l, stack* out, std::size_t n) noexcept
    VOLE_REQUIRES(mutex) {
  std::size_t done = 0;
  while (done < n) {
    const std::uint32_t id = take_one_locked(c, l);
    if (id == kNone) break;
    out[done++] = handle(id, c.bytes);
  }
  c.held += done;
  return done;
}

// Up to n of those that were never used. The guards are made without the lock, so that as many
// threads can make them as need some.
std::size_t take_unused(size_class& c, lane& l, stack* out, std::size_t n, const claim& mine,
                        int* error) noexcept {
  const std::uint32_t guarded = regions::guard(*mine.from, mine.first, mine.n, error);
  base::holding hold(mutex);
  settle_locked(c, l, mine, guarded, error);
  return take_some_locked(c, l, out, n);
}

// The kernel refuses more: what the others have in stock.
std::size_t take_others(size_class& c, stack* out, std::size_t n) noexcept {
  base::holding hold(mutex);
  std::size_t done = 0;
  for (lane& l : c.lanes) done += take_some_locked(c, l, out + done, n - done);
  return done;
}

void say_once() noexcept {
  if (regions::guards_by_mprotect() == 0 || said.exchange(true, base::relaxed)) return;
  base::sentence s;
  s << "vole: this kernel has no MADV_GUARD_INSTALL, or has it in name only; stack guards use mprotect, at most "
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

std::size_t take(std::size_t bytes, stack* out, std::size_t n, int* error,
                 std::uint32_t who) noexcept {
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
    done = take_some_locked(*c, c->lanes[who % kLanes], out, n);
    if (done == 0) mine = claim_locked(*c, c->lanes[who % kLanes], error);
  }
  if (mine.n != 0) done = take_unused(*c, c->lanes[who % kLanes], out, n, mine, error);
  if (done == 0) done = take_others(*c, out, n);
  say_once();
  if (done > 0) *error = 0;
  return done;
}

void put(const stack* stacks, std::size_t n) noexcept {
  base::holding hold(mutex);
  for (std::size_t i = 0; i < n; ++i) {
    const region& r = regions::at(regions::slot_of(stacks[i].id));
    if (r.links == nullptr) base::broken("depot: a stack came back after its region was released");
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
    all.regions += c.regions;
  }
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
}

void use_mprotect_guards(bool on) noexcept {
  regions::force_mprotect(on);
  said.store(on, base::relaxed);
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
