// The memory model: what a load may return, what a store carries along.
//
// Law    at[x] of a thread's views never falls; cur <= acq.
// Note   the order of stores in a location is the order of their execution, and so
//        is the total order of seq_cst operations: both are explored by exploring
//        who runs when.
#include <algorithm>
#include <cstdio>

#include "engine.h"

namespace model {

namespace {

bool acquires(std::memory_order o) noexcept {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel ||
         o == std::memory_order_seq_cst;
}
bool releases(std::memory_order o) noexcept {
  return o == std::memory_order_release || o == std::memory_order_acq_rel ||
         o == std::memory_order_seq_cst;
}
bool is_sc(std::memory_order o) noexcept { return o == std::memory_order_seq_cst; }

const char* words(std::memory_order o) noexcept {
  return is_sc(o)                             ? " (seq_cst)"
         : o == std::memory_order_acq_rel     ? " (acq_rel)"
         : acquires(o)                        ? " (acquire)"
         : releases(o)                        ? " (release)"
                                              : " (relaxed)";
}

}  // namespace

void view::join_stores(const view& o) noexcept {
  for (int i = 0; i < kLocations; ++i) at[i] = std::max(at[i], o.at[i]);
}

void view::join(const view& o) noexcept {
  join_stores(o);
  for (int i = 0; i < kThreads; ++i) clock[i] = std::max(clock[i], o.clock[i]);
}

void engine::note(const char* verb, int where, std::uint64_t value, const char* more) {
  if (!tracing) return;
  char line[200], place[24] = "";
  if (where >= 0 && locations[where].name == nullptr)
    std::snprintf(place, sizeof place, "atomic%d", where);
  std::snprintf(line, sizeof line, "  %-10s %-10s %-12s %lld%s\n",
                in_thread() ? me().name : "main", verb,
                where >= 0 && locations[where].name != nullptr ? locations[where].name : place,
                static_cast<long long>(value), more);
  trace += line;
}

location& engine::at(int where) {
  if (where < 0) fail("an atomic was made outside of the model");
  if (!locations[where].alive) fail("an atomic was used after its end");
  return locations[where];
}

std::memory_order engine::ordered(int where, access a, std::memory_order o) const noexcept {
  for (const weakening& w : weakenings)
    if (w.where == where && w.kind == a && (w.thread < 0 || w.thread == current)) return w.order;
  return o;
}

void engine::tick(thread& t) noexcept {
  const auto id = &t - threads;
  t.acq.clock[id] = ++t.cur.clock[id];
}

int engine::pick_store(int where, std::memory_order o) {
  thread& t = me();
  const int newest = locations[where].newest();
  if (!in_thread()) return newest;
  int oldest = t.cur.at[where];
  if (is_sc(o)) oldest = std::max<int>(oldest, sc.at[where]);
  if (oldest < newest && t.read[where] == oldest && t.stale[where] >= kStaleReads) ++oldest;
  return newest - choose(newest - oldest + 1, choosing::value);
}

std::uint64_t engine::read(int where, int which, std::memory_order o) {
  thread& t = me();
  const stored& s = locations[where].stores[static_cast<std::size_t>(which)];
  const bool again = t.read[where] == which && which < locations[where].newest();
  t.stale[where] = again ? static_cast<std::uint8_t>(t.stale[where] + 1) : 1;
  t.read[where] = static_cast<std::uint16_t>(which);
  t.cur.at[where] = std::max(t.cur.at[where], t.read[where]);
  t.acq.join(s.carried);
  t.acq.at[where] = std::max(t.acq.at[where], t.read[where]);
  if (acquires(o)) t.cur.join(s.carried);
  if (is_sc(o)) sc.at[where] = std::max(sc.at[where], t.read[where]);
  return s.value;
}

// `sequence`: what the store read by the same read-modify-write carried.
void engine::append(int where, std::uint64_t value, std::memory_order o, const view* sequence) {
  thread& t = me();
  location& l = locations[where];
  const auto which = static_cast<std::uint16_t>(l.stores.size());
  t.cur.at[where] = t.acq.at[where] = which;
  t.read[where] = which;  // a spinner looks at this next, and at nothing older
  t.stale[where] = 0;
  view carried = releases(o) ? t.cur : t.rel;
  if (sequence != nullptr) carried.join(*sequence);
  l.stores.push_back({value, carried});
  if (is_sc(o)) sc.at[where] = which;
}

void engine::fence(thread& t) {
  t.cur = t.acq;
  t.cur.join_stores(sc);
  sc.join_stores(t.cur);
  t.acq = t.rel = t.cur;
  tick(t);
}

namespace detail {

int create_location(const void* address, std::uint64_t value) noexcept {
  if (the.location_count == kLocations) the.fail("too many atomics for the model");
  const int where = the.location_count++;
  location& l = the.locations[where];
  l.address = address;
  l.name = nullptr;
  l.alive = true;
  l.locked = l.torn = false;
  l.stores.clear();
  l.stores.push_back({value, view{}});
  return where;
}

void destroy_location(int where) noexcept {
  if (where >= 0) the.locations[where].alive = false;
}

std::uint64_t do_load(int where, std::memory_order o) noexcept {
  o = the.ordered(where, access::load, o);
  the.at(where);
  const bool stutter = the.point(step::load, where, is_sc(o));
  the.at(where);
  const int which = stutter ? the.me().read[where] : the.pick_store(where, o);
  const bool stale = which < the.locations[where].newest();
  const std::uint64_t value = the.read(where, which, o);
  if (the.tracing) the.note(stale ? "load stale" : "load", where, value, words(o));
  the.tick(the.me());
  return value;
}

void do_store(int where, std::uint64_t value, std::memory_order o) noexcept {
  o = the.ordered(where, access::store, o);
  the.point(step::store, where, is_sc(o));
  the.at(where);
  the.append(where, value, o, nullptr);
  the.note("store", where, value, words(o));
  the.tick(the.me());
}

std::uint64_t do_rmw(int where, rmw_function f, std::uint64_t arg, std::memory_order o) noexcept {
  if (the.at(where).torn) {
    const std::uint64_t was = do_load(where, o);
    do_store(where, f(was, arg), o);
    return was;
  }
  o = the.ordered(where, access::rmw, o);
  the.point(step::rmw, where, is_sc(o));
  location& l = the.at(where);
  const std::uint64_t was = the.read(where, l.newest(), o);
  const view sequence = l.stores.back().carried;
  the.append(where, f(was, arg), o, &sequence);
  the.note("rmw to", where, f(was, arg), words(o));
  the.tick(the.me());
  return was;
}

cas_result do_cas(int where, std::uint64_t expected, std::uint64_t desired,
                  std::memory_order success, std::memory_order failure) noexcept {
  if (the.at(where).torn) {
    const std::uint64_t was = do_load(where, success);
    if (was == expected) do_store(where, desired, success);
    return {was, was == expected};
  }
  success = the.ordered(where, access::rmw, success);
  thread& t = the.me();
  location& l = the.at(where);
  // A spinner's next attempt repeats its last one only if that failed: what succeeds is done to
  // the newest store.
  if (l.stores[t.read[where]].value == expected) t.spins_on = -1;
  const bool stutter = the.point(step::cas, where, is_sc(success));
  the.at(where);
  const int newest = l.newest();
  int which = newest;
  if (stutter) {
    which = t.read[where];
  } else if (the.in_thread()) {  // the newest, or an older one that makes it fail
    int can[256], n = 0;
    can[n++] = newest;
    int oldest = t.cur.at[where];
    if (is_sc(failure)) oldest = std::max<int>(oldest, the.sc.at[where]);
    if (t.read[where] == oldest && t.stale[where] >= kStaleReads) ++oldest;
    for (int i = newest - 1; i >= oldest && n < 255; --i)
      if (l.stores[static_cast<std::size_t>(i)].value != expected) can[n++] = i;
    which = can[the.choose(n, choosing::value)];
  }
  const bool done = l.stores[static_cast<std::size_t>(which)].value == expected;
  const std::uint64_t was = the.read(where, which, done ? success : failure);
  if (done) {
    const view sequence = l.stores.back().carried;
    the.append(where, desired, success, &sequence);
  }
  if (the.tracing)
    the.note(done ? "cas to" : "cas sees", where, done ? desired : was,
             words(done ? success : failure));
  the.tick(t);
  return {was, done};
}

void do_fence() noexcept {
  if (the.dropped[static_cast<int>(call::fence)]) return;
  the.point(step::fence, -1, true);
  the.fence(the.me());
  the.note("fence", -1, 0);
}

void do_relax() noexcept { the.spin(); }

}  // namespace detail

}  // namespace model
