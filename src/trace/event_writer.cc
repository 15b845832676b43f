#include "trace/event_writer.h"

#include <cstring>

#include "base/system.h"
#include "trace/advance.h"
#include "trace/emit.h"
#include "trace/pool.h"

namespace vole::rt::trace {
namespace {

constexpr std::uint32_t kRingAt = 4;  // so many full chunks, and the writer is woken

struct shipped_submit {
  void submit(chunk_header* full) const noexcept { trace::submit(full); }
};

std::uint64_t mixed(std::uint64_t h, std::uint64_t x) noexcept {
  h = (h ^ x) * 0xff51afd7ed558ccdu;
  return h ^ h >> 32;
}

std::uint64_t key_of(std::string_view s) noexcept {
  std::uint64_t h = s.size() + 1;
  for (const char c : s) h = mixed(h, static_cast<unsigned char>(c));
  return h;
}

}  // namespace

void wake_writer() noexcept {
  shared.wake_word.fetch_add(1, seq_cst);
  futex_wake(&shared.wake_word, 1);
}
void wake_writer_if_asleep() noexcept {
  if (shared.asleep.load(relaxed) != 0 && shared.asleep.exchange(0, seq_cst) != 0) wake_writer();
}

void submit(chunk_header* full) noexcept {
  const std::uint32_t n = pool::submit(full);
  shared.full.store(n, relaxed);
  if (n >= kRingAt) wake_writer_if_asleep();  // find [11] rings for fewer
}

void move_thread0(std::uint32_t stamp) noexcept {
  holding hold(shared.lock);
  traced& t = shared.thread0;
  if (t.stamp.load(relaxed) == stamp) return;  // somebody has moved it by an event
  t.at = nullptr;
  shipped_submit env;
  trace::move_on(env, t, 0);  // its next event opens a chunk
  if (is_discarded(stamp)) t.stamp.store(stamp, release);
}

void forget_thread0() noexcept {
  shared.lock.word()->store(0, relaxed);
  traced& t = shared.thread0;
  t.at = nullptr;
  t.buffer.store(nullptr, relaxed);
  t.stamp.store(0, relaxed);
}

void event_writer::move_on(const M* m, bool in_call) noexcept {
  if (is_new_here(t_.stamp.load(relaxed))) t_.in_call = in_call;
  shipped_submit env;
  t_.at = nullptr;
  trace::move_on(env, t_, stamp_);
  t_.chunks = 0;
  t_.before = t_.events = 0;
  if (is_discarded(stamp_)) return;
  t_.skew = m == nullptr ? 0 : m->id % 2 != 0 ? shared.skew.load(relaxed) : -shared.skew.load(relaxed);
  t_.number = m != nullptr ? static_cast<std::uint32_t>(m->id) : 0;
  t_.last_ticks = 0;
  now_ = clock();
  if (t_.defined == nullptr) t_.defined = take_dictionary();
  if (t_.defined != nullptr) t_.defined->n_sites = t_.defined->n_strings = 0;
  if (!open_chunk()) return;
  if (m != nullptr) say_first(*m);
  if (at_ != nullptr) commit();
}

bool event_writer::open_chunk() noexcept {
  chunk_header* const h = pool::take();
  if (h == nullptr) return false;
  h->bytes.store(0, relaxed);
  h->events.store(0, relaxed);
  h->generation = generation_of(stamp_);
  h->thread = t_.number;
  h->kind = chunk_kind::events;
  h->zero = 0;
  h->number = t_.chunks++;
  h->before = t_.before += t_.events;
  h->ticks = now_;
  h->crc = 0;
  h->magic.store(kChunkMagic, release);
  t_.events = 0;
  t_.last_ticks = now_;
  t_.last_g = t_.woken_g = 0;
  t_.last_seq = 0;
  t_.end = reinterpret_cast<std::uint8_t*>(h) + pool::kSlotBytes;
  t_.at = at_ = h->payload();
  t_.buffer.store(h, release);
  return true;
}

void event_writer::next_chunk() noexcept {
  commit();
  t_.at = at_ = nullptr;
  trace::submit(t_.buffer.exchange(nullptr, seq_cst));
  if (!open_chunk()) lose();
}

void event_writer::lose() noexcept {
  shared.lost[stamp_ >> 1 & 1].fetch_add(1, relaxed);
  shared.cuts_wanted.fetch_or(1, relaxed);
  wake_writer_if_asleep();
}

// Says which P the thread has, and which goroutine is on it.
void event_writer::say_first(const M& m) noexcept {
  const P* const p = m.p != nullptr ? m.p : m.away;
  G* const g = m.trace.captured ? nullptr : m.curg;
  const bool in_call = g != nullptr && t_.in_call;
  put(event::thread_first);
  number(p != nullptr ? p->id + 1 : 0);
  number(p != nullptr ? acquisitions_of(*p) : 0);
  goroutine(g != nullptr ? g->id : 0);
  number(in_call ? 1 : 0);
  if (g == nullptr || g->trace_stamp == stamp_) return;
  const g_state now = in_call ? g_state::call : p != nullptr ? g_state::running : g_state::evicted;
  introduce(*g, now, wait_reason::none);
}

void event_writer::introduce(G& g, g_state state, wait_reason why) noexcept {
  const std::uint32_t fn = function(reinterpret_cast<std::uintptr_t>(g.invoke));
  const std::uint32_t at = site(wait_reason::none, reinterpret_cast<std::uintptr_t>(g.created_at));
  put(event::g_first);
  goroutine(g.id);
  number(static_cast<std::uint64_t>(state));
  number(static_cast<std::uint64_t>(why));
  number(g.parent);
  number(fn);
  number(at);
  g.trace_stamp = stamp_;
  g.trace_seq = 0;
}

std::uint32_t event_writer::place(wait_reason why, const std::uintptr_t* pcs, std::size_t n,
                         bool is_function) noexcept {
  if (t_.defined == nullptr || at_ == nullptr) return 0;
  if (n == 0 && why == wait_reason::none) return 0;
  const std::uintptr_t first = n != 0 ? pcs[0] : 0;  // a reason alone is a place, too
  std::uint64_t key = static_cast<std::uint64_t>(first) << 8 | static_cast<std::uint64_t>(why);
  for (std::size_t i = 1; i < n; ++i) key = mixed(key, pcs[i]);
  dictionary::entry* e;
  if (const std::uint32_t known =
          number_of(t_.defined->sites, dictionary::kSites, key, stamp_, &e))
    return known;
  return define_place(*e, key, why, pcs, n, is_function);
}

[[gnu::noinline]] std::uint32_t event_writer::define_place(dictionary::entry& e, std::uint64_t key,
                                                  wait_reason why, const std::uintptr_t* pcs,
                                                  std::size_t n, bool is_function) noexcept {
  put(event::def_site, n * kMostVarint);
  if (at_ == nullptr) return 0;
  number(static_cast<std::uint64_t>(why));
  number(n);
  for (std::size_t i = 0; i < n; ++i) {
    number(pcs[i]);
    remember_pc(pcs[i], is_function);
  }
  e = {key, stamp_, ++t_.defined->n_sites};
  return e.number;
}

std::uint32_t event_writer::site_of(const G& g, wait_reason why, const void* sp) noexcept {
  if (t_.defined == nullptr) return 0;
  std::uintptr_t pcs[kMostPlaces];
  const std::size_t n = places_of(*t_.defined, g, sp, pcs, shared.frames.load(relaxed));
  return place(why, pcs, n, false);
}

std::uint32_t event_writer::site_outside(const G& g, arch::frame from) noexcept {
  if (t_.defined == nullptr) return 0;
  const std::uintptr_t pc = caller_outside(*t_.defined, g, from);
  return pc != 0 ? site(wait_reason::none, pc) : 0;
}

std::uint32_t event_writer::string(std::string_view s) noexcept {
  if (t_.defined == nullptr || at_ == nullptr) return 0;
  const std::uint64_t key = key_of(s);
  dictionary::entry* e;
  if (const std::uint32_t known =
          number_of(t_.defined->strings, dictionary::kStrings, key, stamp_, &e))
    return known;
  put(event::def_string, s.size());
  if (at_ == nullptr) return 0;
  text(s);
  *e = {key, stamp_, ++t_.defined->n_strings};
  return e->number;
}

void event_writer::text(std::string_view s) noexcept {
  if (at_ == nullptr) return;
  at_ = put_varint(at_, s.size());
  std::memcpy(at_, s.data(), s.size());
  at_ += s.size();
}

}  // namespace vole::rt::trace
