#include "poll/watch.h"

#include <poll.h>

#include <new>

#include "base/list.h"
#include "base/lock.h"
#include "base/slab.h"
#include "base/system.h"

namespace vole::rt::poll {

struct record : descriptor {
  base::lock<lock_rank::watch> lock;
  watched* first VOLE_GUARDED_BY(lock) = nullptr;
  watched* last VOLE_GUARDED_BY(lock) = nullptr;
  std::uint32_t closings VOLE_GUARDED_BY(lock) = 0;  // of its number, under way
};

namespace {

constexpr std::uint32_t kAlways = POLLERR | POLLHUP;  // reported whether wanted or not
constexpr unsigned kInChunk = 1024, kChunks = 1024;

using chunk = atomic<record*>[kInChunk];

struct records {
  base::lock<lock_rank::poll> lock;
  atomic<chunk*> chunks[kChunks] = {};  // written under lock
};
constinit records all;
constinit slab<record> record_slab;

record* find(unsigned fd) noexcept {
  if (fd >= kInChunk * kChunks) return nullptr;
  chunk* const c = all.chunks[fd / kInChunk].load(std::memory_order_acquire);  // pairs: make
  return c != nullptr ? (*c)[fd % kInChunk].load(std::memory_order_acquire) : nullptr;
}

record* make_locked(unsigned fd) noexcept VOLE_REQUIRES(all.lock) {
  atomic<chunk*>& place = all.chunks[fd / kInChunk];
  chunk* c = place.load(relaxed);
  if (c == nullptr) {
    c = static_cast<chunk*>(map_pages(sizeof(chunk)));  // zeros
    if (c == nullptr) return nullptr;
    place.store(c, std::memory_order_release);  // pairs: find
  }
  atomic<record*>& slot = (*c)[fd % kInChunk];
  if (record* const r = slot.load(relaxed)) return r;
  record* const memory = record_slab.allocate_raw();
  if (memory == nullptr) return nullptr;
  record* const r = new (memory) record;
  r->tag.store(0, relaxed);
  r->foreign = true;
  r->fd = -1;
  slot.store(r, std::memory_order_release);  // pairs: find
  return r;
}

record* find_or_make(unsigned fd, bool* made) noexcept {
  *made = false;
  if (record* const r = find(fd)) return r;
  if (fd >= kInChunk * kChunks || !start_and_count()) return nullptr;
  *made = true;
  holding hold(all.lock);
  return make_locked(fd);
}

void link_locked(record& r, watched& w) noexcept VOLE_REQUIRES(r.lock) {
  w.at = &r;
  w.next = nullptr;
  w.prev = r.last;
  (r.last != nullptr ? r.last->next : r.first) = &w;
  r.last = &w;
}

void unlink_locked(record& r, watched& w) noexcept VOLE_REQUIRES(r.lock) {
  (w.prev != nullptr ? w.prev->next : r.first) = w.next;
  (w.next != nullptr ? w.next->prev : r.last) = w.prev;
  w.at = nullptr;
}

// Those that nobody has told to look again yet.
std::uint32_t wanted_locked(const record& r) noexcept VOLE_REQUIRES(r.lock) {
  std::uint32_t all_of_them = 0;
  for (const watched* w = r.first; w != nullptr; w = w->next)
    if (!is_over(*w->of)) all_of_them |= w->wants;
  return all_of_them;
}

void tell(watched& w, completions& woken) noexcept {
  if (waiter* const who = end_party(*w.of)) woken.push(who);
}
void tell_all_locked(record& r, const watched* but, completions& woken) noexcept
    VOLE_REQUIRES(r.lock) {
  for (watched* w = r.first; w != nullptr; w = w->next)
    if (w != but) tell(*w, woken);
}

// 0 or errno. Who waits for a file that the number meant before is in `woken`.
int arm_locked(record& r, int fd, const watched* newest, completions& woken) noexcept
    VOLE_REQUIRES(r.lock) {
  r.tag.fetch_add(1, seq_cst);  // events on their way are of an earlier arming
  bool another = false;
  const int error = arm(r, fd, wanted_locked(r), &another);
  if (another || error != 0) tell_all_locked(r, newest, woken);
  return error;
}

template <class Fn>
void for_each_record(unsigned first, unsigned last, Fn fn) noexcept {
  for (unsigned i = first; i <= last && i < kInChunk * kChunks; ++i) {
    if (all.chunks[i / kInChunk].load(std::memory_order_acquire) == nullptr) {
      i |= kInChunk - 1;
    } else if (record* const r = find(i)) {
      fn(*r);
    }
  }
}

}  // namespace

int watch(watched& w, completions& woken) noexcept {
  record* const r = find_or_make(static_cast<unsigned>(w.fd), &w.fresh);
  if (r == nullptr) return kNotHere;
  holding hold(r->lock);
  link_locked(*r, w);
  w.came = 0;
  w.closed = false;
  w.early = r->closings != 0;
  if (w.early) return 0;
  const int error = arm_locked(*r, w.fd, &w, woken);
  if (error != 0) unlink_locked(*r, w);
  return error;
}

void unwatch(watched& w) noexcept {
  record* const r = w.at;
  if (r == nullptr) return;
  holding hold(r->lock);
  if (w.at != nullptr) unlink_locked(*r, w);
}

void complete_watched(descriptor& d, kernel_event e, completions& done) noexcept {
  auto& r = static_cast<record&>(d);
  holding hold(r.lock);
  if (((r.tag.load(relaxed) ^ e.tag) & kTagMask) != 0) return;  // armed again meanwhile
  bool others = false;
  for (watched* w = r.first; w != nullptr; w = w->next) {
    const std::uint32_t came = e.events & (w->wants | kAlways);
    if (came != 0 && !w->early) {
      w->came |= came;
      tell(*w, done);
    } else {
      others |= !w->early && !is_over(*w->of);
    }
  }
  // If its file is gone, they find out by themselves.
  if (others && r.fd >= 0) arm_locked(r, r.fd, nullptr, done);
}

bool is_watched(unsigned first, unsigned last) noexcept {
  bool any = false;
  for_each_record(first, last, [&any](record& r) {
    holding hold(r.lock);
    any |= r.closings != 0 || r.first != nullptr;
  });
  return any;
}

void begin_closing(unsigned first, unsigned last) noexcept {
  for_each_record(first, last, [](record& r) {
    holding hold(r.lock);
    ++r.closings;
  });
}

void end_closing(unsigned first, unsigned last, bool closed, completions& woken) noexcept {
  for_each_record(first, last, [&](record& r) {
    holding hold(r.lock);
    const bool younger = r.closings == 0;  // than the closing: who waits for what is not known
    if (!younger) --r.closings;
    for (watched* w = r.first; w != nullptr; w = w->next) {
      if (!w->early && !closed) continue;
      if (!w->early && !younger) w->closed = true;
      tell(*w, woken);
    }
  });
}

void end_all_parties(completions& woken) noexcept {
  record_slab.for_each([&](record* r) {
    holding hold(r->lock);
    tell_all_locked(*r, nullptr, woken);
  });
}

void forget_registrations() noexcept {
  record_slab.for_each([](record* r) { r->fd = -1; });
}

}  // namespace vole::rt::poll
