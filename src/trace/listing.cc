#include "trace/listing.h"

#include <string_view>
#include <vector>

#include "base/lock.h"
#include "os/os.h"
#include "trace/shared.h"
#include "trace/emit.h"
#include "trace/format.h"
#include "trace/house.h"
#include "trace/names.h"

namespace vole::rt::trace {
namespace {

struct listed_g {
  std::uint64_t id, parent;
  g_state state;
  wait_reason why;
  std::uintptr_t fn, created_at;
  std::int64_t waited;
  char name[kNameBytes];
};
struct listed_m {
  std::uint64_t number, tid, p, acquisition, g;
  bool in_call;
};

struct lists {
  std::vector<listed_g> gs;
  std::vector<listed_m> ms;
  std::int64_t now;
};

// Records are read while their goroutines live and die. Not instrumented: if a goroutine changes
// meanwhile, its record is thrown away, or its events say the same better.
[[gnu::no_sanitize_thread, gnu::noinline]] bool read_g(const G& g, std::int64_t now,
                                                       listed_g* to) noexcept {
  const g_status s = status_of(g);
  if (s == g_status::idle || s == g_status::dead) return false;
  to->id = *const_cast<const volatile std::uint64_t*>(&g.id);
  to->parent = g.parent;
  to->fn = reinterpret_cast<std::uintptr_t>(g.invoke);
  to->created_at = reinterpret_cast<std::uintptr_t>(g.created_at);
  to->why = g.why.load(relaxed);
  const std::int64_t since = g.waiting_since.load(relaxed);
  to->waited = s == g_status::waiting && since != 0 && since < now ? now - since : 0;
  const g_name* const name = g.name;
  to->name[0] = '\0';
  for (std::size_t i = 0; name != nullptr && i < sizeof(name->text); ++i)
    if ((to->name[i] = name->text[i]) == '\0') break;
  to->name[sizeof(name->text) - 1] = '\0';
  switch (s) {
    case g_status::runnable: to->state = g_state::runnable; break;
    case g_status::waiting: to->state = g_state::waiting; break;
    case g_status::evicted: to->state = g_state::evicted; break;
    case g_status::preempted: to->state = g_state::preempted; break;
    default: to->state = g_state::running;
  }
  if (to->state != g_state::waiting) to->why = wait_reason::none;
  fence_seq_cst();
  const g_status after = status_of(g);
  return to->id != 0 && after != g_status::idle && after != g_status::dead &&
         *const_cast<const volatile std::uint64_t*>(&g.id) == to->id;
}

[[gnu::no_sanitize_thread, gnu::noinline]] std::uint64_t goroutine_of(const M& m) noexcept {
  const G* const g = m.trace.captured ? nullptr : m.curg;
  return g != nullptr ? g->id : 0;
}
[[gnu::no_sanitize_thread, gnu::noinline]] bool is_call_open(const M& m) noexcept {
  return is_new_here(m.trace.stamp.load(relaxed)) ? the_house.is_in_call(m) : m.trace.in_call;
}

void list_m(M& m, void* arg) noexcept {
  auto& l = *static_cast<lists*>(arg);
  const std::uint64_t tid = m.tid.load(relaxed);
  if (tid == 0) return;  // its thread has not started yet
  listed_m one{m.id, tid, 0, 0, 0, false};
  m.retake_lock.acquire();
  const P* const p = m.p != nullptr ? m.p : m.away;
  if (p != nullptr) {
    one.p = p->id + 1;
    one.acquisition = acquisitions_of(*p);
  }
  one.g = goroutine_of(m);
  one.in_call = one.g != 0 && is_call_open(m);
  m.retake_lock.release();
  l.ms.push_back(one);
}

void list_g(const G& g, void* arg) noexcept {
  auto& l = *static_cast<lists*>(arg);
  listed_g one;
  if (read_g(g, l.now, &one)) l.gs.push_back(one);
}

void put(std::string& to, std::uint64_t n) {
  std::uint8_t bytes[kMostVarint];
  to.append(reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(put_varint(bytes, n) - bytes));
}

// The thread has the last word: a goroutine on one that has a P runs.
const listed_m* carrier(const lists& l, std::uint64_t id) noexcept {
  for (const listed_m& m : l.ms)
    if (m.g == id) return &m;
  return nullptr;
}

void put_g(std::string& to, const lists& l, const listed_g& g) {
  const bool moves = g.state == g_state::running || g.state == g_state::evicted;
  const listed_m* const m = moves ? carrier(l, g.id) : nullptr;
  g_state state = g.state;
  if (m != nullptr)
    state = m->in_call ? g_state::call : m->p != 0 ? g_state::running : g_state::evicted;
  put(to, g.id);
  put(to, g.parent);
  put(to, static_cast<std::uint64_t>(state));
  put(to, static_cast<std::uint64_t>(g.why));
  put(to, g.fn);
  put(to, g.created_at);
  put(to, m != nullptr ? m->number : 0);
  put(to, static_cast<std::uint64_t>(g.waited));
  const std::string_view name = g.name;
  put(to, name.size());
  to += name;
  names::want(g.fn, true);
  names::want(g.created_at, false);
}

void put_m(std::string& to, const listed_m& m) {
  for (const std::uint64_t n : {m.number, m.tid, m.p, m.acquisition, m.g}) put(to, n);
}

// Parts of some items of `from` each, `before` and `after` counts of the other kind.
template <class T, class Put>
void tell(const std::vector<T>& from, std::size_t most, bool threads, Put&& one,
          void (*fn)(const std::string&, void*), void* arg) {
  std::string body, part;
  for (std::size_t i = 0; i < from.size();) {
    body.clear();
    part.clear();
    std::size_t n = 0;
    for (; i < from.size() && body.size() < most - 256; ++i, ++n) one(body, from[i]);
    if (threads) put(part, 0);
    put(part, n);
    part += body;
    if (!threads) put(part, 0);
    fn(part, arg);
  }
}

}  // namespace

void make_listing(std::size_t most, void (*fn)(const std::string& payload, void* arg), void* arg) {
  lists l;
  l.now = os::now_ns();
  the_house.each_m(&list_m, &l);
  the_house.each_g(&list_g, &l);
  tell(l.gs, most, false, [&](std::string& to, const listed_g& g) { put_g(to, l, g); }, fn, arg);
  tell(l.ms, most, true, [](std::string& to, const listed_m& m) { put_m(to, m); }, fn, arg);
}

}  // namespace vole::rt::trace
