// See scan.h.
#include "trace/scan.h"

#include <algorithm>

namespace vole_trace {
namespace {

struct steal {
  std::uint64_t p, acquisition, thread, events;
};

struct listed_goroutine {
  std::uint32_t g, thread;
  state now;
  std::uint64_t reason;
};

struct listed_thread {
  std::uint32_t thread, p;
  std::uint64_t acquisition;
  std::uint32_t g;
};

std::string goroutine(std::uint64_t id) { return "goroutine " + std::to_string(id); }
std::string thread_of(std::uint64_t number) { return "thread " + std::to_string(number); }

class scanner {
 public:
  scanner(scan& into, place_table& places) : s_(into), places_(places) {}

  void read();

 private:
  std::uint32_t thread(std::uint64_t number);
  std::uint32_t goroutine_number(std::uint64_t id);
  scanned_p& p_of(std::uint64_t p);
  std::uint32_t place(const scanned_thread& t, std::uint64_t number) const;

  void read_thread(std::uint32_t t);
  void look(scanned_thread& t, const event& e);
  void look_first(scanned_thread& t, const event& e);
  void look_g_first(const scanned_thread& t, const event& e);
  void look_create(const scanned_thread& t, const event& e);
  void check_names(const scanned_thread& t, const event& e) const;

  void read_listing(cursor c);
  void read_listed_goroutine(cursor& c);
  void note_thefts();
  void place_ps();
  void hold(std::uint32_t t, std::uint32_t p, std::uint64_t acquisition);
  bool older(const scanned_p& p, std::uint64_t acquisition) const;
  void place_goroutines();
  void ride(std::uint32_t t, std::uint32_t g, bool in_call);

  scan& s_;
  place_table& places_;
  std::vector<steal> steals_;
  std::vector<listed_goroutine> listed_goroutines_;
  std::vector<listed_thread> listed_threads_;
};

std::uint32_t scanner::thread(std::uint64_t number) {
  if (number > 0xffffffffU) throw damaged("there is a thread " + std::to_string(number));
  const auto [at, is_new] =
      s_.thread_index.emplace(number, static_cast<std::uint32_t>(s_.threads.size()));
  if (is_new) {
    scanned_thread& t = s_.threads.emplace_back();
    t.number = static_cast<std::uint32_t>(number);
    t.sites.push_back(0);
    t.strings.emplace_back();
  }
  return at->second;
}

std::uint32_t scanner::goroutine_number(std::uint64_t id) {
  const std::uint32_t number = s_.ids.add(id);
  if (number == s_.goroutines.size()) s_.goroutines.emplace_back().id = id;
  return number;
}

scanned_p& scanner::p_of(std::uint64_t p) {
  if (p >= kMostPs) throw damaged("there is a P " + std::to_string(p));
  if (p >= s_.ps.size()) s_.ps.resize(p + 1);
  return s_.ps[p];
}

std::uint32_t scanner::place(const scanned_thread& t, std::uint64_t number) const {
  if (number >= t.sites.size()) {
    throw damaged("place " + std::to_string(number) + " was never defined");
  }
  return t.sites[number];
}

void scanner::read() {
  const generation& g = *s_.of;
  if (g.begin->ps > kMostPs) throw damaged("it has " + std::to_string(g.begin->ps) + " Ps");
  s_.ps.resize(g.begin->ps);
  for (const auto& [number, chunks] : g.threads) {
    const std::uint32_t t = thread(number);
    s_.threads[t].chunks = &chunks;
    read_thread(t);
  }
  for (const chunk& c : g.listings) {
    try {
      read_listing(cursor(s_.content.data(), c.payload));
    } catch (const damaged& why) {
      throw damaged(std::string("its listing: ") + why.what());
    }
  }
  note_thefts();
  place_ps();
  place_goroutines();
}

void scanner::read_thread(std::uint32_t number) {
  scanned_thread& t = s_.threads[number];
  event_reader from(s_.content, t.chunks);
  event e;
  try {
    while (from.next(e)) look(t, e);
  } catch (const damaged& why) {
    throw damaged(where(t, from) + why.what());
  }
  s_.events += from.taken();
}

void scanner::look(scanned_thread& t, const event& e) {
  if (e.type == kDefSite) {
    t.sites.push_back(places_.add(e.reason, e.pcs));
    return;
  }
  if (e.type == kDefString) {
    t.strings.push_back(e.text);
    return;
  }
  if (e.type == kThreadFirst) return look_first(t, e);
  if (!t.has_first && t.number != 0) throw damaged("the thread has no first event before this");
  switch (e.type) {
    case kGFirst: return look_g_first(t, e);
    case kGCreate: return look_create(t, e);
    case kProcStart: {
      scanned_p& p = p_of(e.p);
      if (e.acquisition == 0) throw damaged("a P's acquisition has number 0");
      if (p.lowest_start == 0 || e.acquisition < p.lowest_start) p.lowest_start = e.acquisition;
      return;
    }
    case kProcSteal:
      p_of(e.p);
      steals_.push_back({e.p, e.acquisition, e.thread, e.events});
      return;
    default: check_names(t, e);
  }
}

void scanner::check_names(const scanned_thread& t, const event& e) const {
  switch (e.type) {
    case kGBlock:
    case kBlockRun:
    case kBlockWoken:
    case kCallBegin: place(t, e.site); return;
    case kGName:
    case kStopBegin:
    case kRegionBegin:
    case kRegionEnd:
    case kTaskBegin:
    case kLog:
      if (e.name >= t.strings.size()) {
        throw damaged("string " + std::to_string(e.name) + " was never defined");
      }
      return;
    default: return;
  }
}

void scanner::look_first(scanned_thread& t, const event& e) {
  if (t.has_first) throw damaged("the thread has two first events");
  t.has_first = true;
  if (e.p > 0) {
    p_of(e.p - 1);
    t.first_p = t.p = static_cast<std::uint32_t>(e.p - 1);
    t.first_acquisition = t.acquisition = e.acquisition;
  }
  if (e.g != 0) t.g = goroutine_number(e.g);
  t.in_call = (e.state & 1) != 0;
  if (t.number == 0 && (e.p != 0 || e.g != 0)) {
    throw damaged("thread 0 is no M: it has neither P nor goroutine");
  }
}

void scanner::look_g_first(const scanned_thread& t, const event& e) {
  scanned_goroutine& g = s_.goroutines[goroutine_number(e.g)];
  if (e.state > 5) {
    throw damaged(goroutine(e.g) + " is in state " + std::to_string(e.state) +
                  ", which there is not");
  }
  if (g.has_first) throw damaged(goroutine(e.g) + " has two first events");
  if (g.created) throw damaged(goroutine(e.g) + " was created, but has a first event");
  g.has_first = true;
  g.parent = e.parent;
  g.fn = place(t, e.fn);
  g.site = place(t, e.site);
  g.begin = static_cast<state>(e.state);
  g.reason = e.reason;
}

void scanner::look_create(const scanned_thread& t, const event& e) {
  scanned_goroutine& g = s_.goroutines[goroutine_number(e.g)];
  if (g.created || g.has_first) throw damaged(goroutine(e.g) + " is created, but was there before");
  g.created = true;
  g.fn = place(t, e.fn);
  g.site = place(t, e.site);
}

void scanner::read_listed_goroutine(cursor& c) {
  const std::uint64_t id = c.varint(), parent = c.varint(), now = c.varint();
  const std::uint64_t reason = c.varint(), fn = c.varint(), site = c.varint();
  const std::uint64_t on = c.varint(), waited = c.varint();
  const std::string_view name = c.string();
  if (id == 0 || id >= std::uint64_t{1} << 53) throw damaged("a goroutine has no proper id");
  if (now > 5) throw damaged(goroutine(id) + " is in state " + std::to_string(now));
  const std::uint32_t number = goroutine_number(id);
  scanned_goroutine& g = s_.goroutines[number];
  if (g.listed) throw damaged(goroutine(id) + " is listed twice");
  g.listed = true;
  g.parent = parent;
  if (g.fn == 0) g.fn = places_.add(0, {fn});
  if (g.site == 0) g.site = places_.add(0, {site});
  if (!name.empty()) g.name = name;
  g.waited = waited;
  const std::uint32_t t = on == 0 ? kNobody : thread(on);
  listed_goroutines_.push_back({number, t, static_cast<state>(now), reason});
}

void scanner::read_listing(cursor c) {
  for (std::uint64_t n = c.varint(); n > 0; --n) read_listed_goroutine(c);
  for (std::uint64_t m = c.varint(); m > 0; --m) {
    const std::uint32_t t = thread(c.varint());
    const std::uint64_t kernel = c.varint(), p = c.varint(), acquisition = c.varint();
    const std::uint64_t id = c.varint();
    if (s_.threads[t].listed) throw damaged(thread_of(s_.threads[t].number) + " is listed twice");
    s_.threads[t].listed = true;
    s_.threads[t].kernel = kernel;
    if (p > 0) p_of(p - 1);
    listed_threads_.push_back({t, static_cast<std::uint32_t>(p - 1), acquisition,
                               id == 0 ? kNobody : goroutine_number(id)});
  }
  if (!c.done()) throw damaged("there is more in it than it says");
}

void scanner::hold(std::uint32_t t, std::uint32_t p, std::uint64_t acquisition) {
  scanned_p& to = s_.ps[p];
  if (to.known) {
    throw damaged("P " + std::to_string(p) + " begins with two threads, " +
                  std::to_string(s_.threads[to.holder].number) + " and " +
                  std::to_string(s_.threads[t].number));
  }
  to = {t, acquisition, true, to.lowest_start};
  s_.threads[t].p = p;
  s_.threads[t].acquisition = acquisition;
}

// Was the P of that acquisition had before any that this generation saw begin?
bool scanner::older(const scanned_p& p, std::uint64_t acquisition) const {
  return p.lowest_start == 0 || acquisition < p.lowest_start;
}

void scanner::note_thefts() {
  for (const steal& taken : steals_) {
    const auto from = s_.thread_index.find(taken.thread);
    if (from != s_.thread_index.end()) s_.threads[from->second].thefts.push_back(taken.events);
  }
  for (scanned_thread& t : s_.threads) std::sort(t.thefts.begin(), t.thefts.end());
}

void scanner::place_ps() {
  for (std::uint32_t t = 0; t < s_.threads.size(); ++t) {
    if (s_.threads[t].first_p != kNobody) {
      hold(t, s_.threads[t].first_p, s_.threads[t].first_acquisition);
    }
  }
  // A P that was taken from a thread before its first event, if it had any.
  for (const steal& taken : steals_) {
    scanned_p& p = s_.ps[taken.p];
    if (p.known || !older(p, taken.acquisition)) continue;
    const std::uint32_t from = thread(taken.thread);
    if (s_.threads[from].p != kNobody) {
      throw damaged(thread_of(taken.thread) + " begins with two Ps");
    }
    hold(from, static_cast<std::uint32_t>(taken.p), taken.acquisition);
  }
  for (const listed_thread& l : listed_threads_) {
    const scanned_thread& t = s_.threads[l.thread];
    if (t.chunks != nullptr || t.p != kNobody || l.p == kNobody) continue;
    if (!s_.ps[l.p].known && older(s_.ps[l.p], l.acquisition)) hold(l.thread, l.p, l.acquisition);
  }
  for (scanned_p& p : s_.ps) {
    if (!p.known && p.lowest_start != 0) p.acquisition = p.lowest_start - 1;
  }
}

void scanner::ride(std::uint32_t t, std::uint32_t g, bool in_call) {
  scanned_goroutine& rider = s_.goroutines[g];
  scanned_thread& on = s_.threads[t];
  if (rider.thread != kNobody) {
    throw damaged(goroutine(rider.id) + " begins on two threads, " +
                  std::to_string(s_.threads[rider.thread].number) + " and " +
                  std::to_string(on.number));
  }
  if (rider.created) throw damaged(goroutine(rider.id) + " runs before it is created");
  if (rider.has_first && !on_thread(rider.begin)) {
    throw damaged(goroutine(rider.id) + " is said not to run, but is on " + thread_of(on.number));
  }
  rider.thread = t;
  on.g = g;
  on.in_call = in_call;
  rider.begin = in_call ? state::call : on.p != kNobody ? state::running : state::evicted;
}

void scanner::place_goroutines() {
  for (std::uint32_t t = 0; t < s_.threads.size(); ++t) {
    if (s_.threads[t].chunks != nullptr && s_.threads[t].g != kNobody) {
      ride(t, s_.threads[t].g, s_.threads[t].in_call);
    }
  }
  std::vector<bool> calls(s_.goroutines.size());
  for (const listed_goroutine& l : listed_goroutines_) calls[l.g] = l.now == state::call;
  for (const listed_thread& l : listed_threads_) {
    if (l.g == kNobody || s_.threads[l.thread].chunks != nullptr) continue;
    const scanned_goroutine& g = s_.goroutines[l.g];
    if (g.thread != kNobody || g.created || g.has_first) continue;
    ride(l.thread, l.g, calls[l.g]);
  }
  for (const listed_goroutine& l : listed_goroutines_) {
    scanned_goroutine& g = s_.goroutines[l.g];
    if (g.thread != kNobody || g.created || g.has_first) continue;
    g.begin = l.now;
    g.reason = l.reason;
    if (on_thread(l.now)) g.thread = l.thread;
  }
  for (const scanned_goroutine& g : s_.goroutines) {
    if (g.has_first && g.thread == kNobody && on_thread(g.begin)) {
      throw damaged(goroutine(g.id) + " is said to run, but is on no thread");
    }
  }
}

}  // namespace

std::string where(const scanned_thread& thread, const event_reader& at) {
  return "event " + std::to_string(at.taken()) + " of thread " + std::to_string(thread.number) +
         " (byte " + std::to_string(at.position()) + "): ";
}

scan scan_generation(bytes content, const generation& g, place_table& places) {
  scan s;
  s.of = &g;
  s.content = content;
  scanner(s, places).read();
  return s;
}

}  // namespace vole_trace
