#include "trace/emit.h"

#include <cstring>

#include "arch/thread_word.h"
#include "base/likely.h"
#include "trace/shared.h"
#include "trace/format.h"
#include "trace/dictionary.h"
#include "trace/event_writer.h"
#include "trace/pool.h"

namespace vole::rt::trace {

constinit atomic<std::uint32_t> now_on{0};
constinit shared_state shared;

namespace {

constinit atomic<std::uint64_t> acquisitions[1024];

// For events of a thread that is no M, and of an M that is outside the runtime.
template <class Fn>
void as_thread0(Fn&& fn) noexcept {
  holding hold(shared.lock);
  if (event_writer p(shared.thread0, nullptr); p) fn(p);
}

// On an M inside the runtime, as itself; otherwise as thread 0.
template <class Fn>
void write(M* m, Fn&& fn) noexcept {
  if (m == nullptr) {
    M* const mine = arch::this_m();
    if (mine == nullptr || mine->hot.in_rt.load(relaxed) == 0) return as_thread0(fn);
    m = mine;
  }
  if (event_writer p(m->trace, m); p) fn(p);
}

event alone(leaving how) noexcept {
  switch (how) {
    case leaving::block: return event::g_block;
    case leaving::yield: return event::g_yield;
    case leaving::preempt: return event::g_preempt;
    case leaving::end: break;
  }
  return event::g_end;
}

// Each with the one that follows it: 20, 21, 22, 23; and if that was just woken: 24, 25, none, 27.
event with_run(leaving how) noexcept {
  return static_cast<event>(static_cast<int>(event::block_run) + static_cast<int>(how));
}
bool has_woken_form(leaving how) noexcept { return how != leaving::preempt; }
event with_woken(leaving how) noexcept {
  return static_cast<event>(static_cast<int>(event::block_woken) + static_cast<int>(how));
}

void end_open_call(event_writer& p, M& m) noexcept {
  if (!m.trace.in_call) return;
  p.put(event::call_end);
  m.trace.in_call = false;
}

}  // namespace

void count_acquisition(const P& p) noexcept {
  acquisitions[p.id].store(acquisitions[p.id].load(relaxed) + 1, relaxed);
}
std::uint64_t acquisitions_of(const P& p) noexcept { return acquisitions[p.id].load(relaxed); }

void created(M* m, G& g) noexcept {
  write(m, [&](event_writer& p) {
    const std::uint32_t fn = p.function(reinterpret_cast<std::uintptr_t>(g.invoke));
    const std::uint32_t at = p.site(wait_reason::none, reinterpret_cast<std::uintptr_t>(g.created_at));
    p.put(event::g_create);
    p.goroutine(g.id);
    p.number(fn);
    p.number(at);
    g.trace_stamp = p.stamp();
    g.trace_seq = 1;
    if (g.name == nullptr) return;
    const std::uint32_t name = p.string(g.name->text);
    p.put(event::g_name);
    p.goroutine(g.id);
    p.number(name);
  });
}

namespace {

void put_unblocked(event_writer& p, G& g) noexcept {
  const std::uint32_t seq = p.next_number(g, g_state::waiting, g.why.load(relaxed));
  p.put(event::g_unblock);
  p.goroutine(g.id);
  p.sequence(seq);
  p.woke(g.id, seq);
}

}  // namespace

void unblocked(M* m, G& g) noexcept {
  write(m, [&](event_writer& p) { put_unblocked(p, g); });
}
void unblocked_by_nobody(G& g) noexcept {
  if (!is_on()) return;
  as_thread0([&](event_writer& p) { put_unblocked(p, g); });
}

void departs(M& m, G& g, leaving how, G* next, wait_reason why, const void* sp) noexcept {
  event_writer p(m.trace, &m);
  if (!p) {
    m.trace.in_call = false;
    return;
  }
  end_open_call(p, m);
  if (m.p == nullptr) return p.put(event::g_requeue);
  if (how == leaving::block && why == wait_reason::none) how = leaving::end;  // main has returned
  const std::uint32_t at = how == leaving::block ? p.site_of(g, why, sp) : 0;
  if (next == nullptr) {
    p.put(alone(how));
    if (how == leaving::block) p.number(at);
    return;
  }
  const std::uint32_t seq = p.next_number(*next, g_state::runnable, wait_reason::none);
  p.make_room();  // or the one woken would be of the chunk before
  if (has_woken_form(how) && p.was_woken_last(next->id, seq)) {
    p.put(with_woken(how));
    if (how == leaving::block) p.number(at);
    return;
  }
  p.put(with_run(how));
  if (how == leaving::block) p.number(at);
  p.goroutine(next->id);
  p.sequence(seq);
}

void runs(M& m, G& g) noexcept {
  event_writer p(m.trace, &m);
  if (!p) return;
  const std::uint32_t seq = p.next_number(g, g_state::runnable, wait_reason::none);
  p.put(event::g_run);
  p.goroutine(g.id);
  p.sequence(seq);
}

void captured(M& m, bool had_p) noexcept {
  if (event_writer p(m.trace, &m); p) {
    end_open_call(p, m);
    p.put(had_p ? event::g_preempt : event::g_requeue);
  }
  m.trace.in_call = false;
  m.trace.captured = true;
}

void let_go(M& m) noexcept {
  if (event_writer p(m.trace, &m); p) {
    G& g = *m.curg;
    const std::uint32_t seq = p.next_number(g, g_state::preempted, wait_reason::none);
    p.put(event::g_run);
    p.goroutine(g.id);
    p.sequence(seq);
  }
  m.trace.captured = false;
}

void got_p(M& m, const P& p) noexcept {
  event_writer w(m.trace, &m);
  if (!w) return;
  w.put(event::proc_start);
  w.number(p.id);
  w.number(acquisitions_of(p));
}

void gives_p(M& m) noexcept {
  if (event_writer p(m.trace, &m); p) p.put(event::proc_stop);
}

void p_is_taken(const M& from, const P& p) noexcept {
  if (!is_on()) return;
  as_thread0([&](event_writer& w) {
    const bool wrote = from.trace.stamp.load(relaxed) == w.stamp();
    w.put(event::proc_steal);
    w.number(p.id);
    w.number(acquisitions_of(p));
    w.number(from.id);
    w.number(wrote ? from.trace.events_so_far() : 0);
  });
}

void call_begins(M& m, arch::frame from) noexcept {
  if (m.trace.in_call) return;
  if (event_writer p(m.trace, &m); p) {
    const std::uint32_t at = p.site_outside(*m.curg, from);
    p.put(event::call_begin);
    p.number(at);
  }
  m.trace.in_call = true;
}

// If that is its first event, the call has begun before the trace.
void call_ends(M& m) noexcept {
  if (event_writer p(m.trace, &m, true); p && m.trace.in_call) p.put(event::call_end);
  m.trace.in_call = false;
}

void stop_begins(std::string_view purpose) noexcept {
  if (!is_on()) return;
  as_thread0([&](event_writer& p) {
    const std::uint32_t name = p.string(purpose);
    p.put(event::stop_begin);
    p.number(name);
  });
}
void stop_ends() noexcept {
  if (is_on()) as_thread0([](event_writer& p) { p.put(event::stop_end); });
}

void region(M* m, bool begins, std::string_view name) noexcept {
  write(m, [&](event_writer& p) {
    const std::uint32_t number = p.string(name);
    p.put(begins ? event::region_begin : event::region_end);
    p.number(number);
  });
}

void task_begins(M* m, std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept {
  write(m, [&](event_writer& p) {
    const std::uint32_t number = p.string(name);
    p.put(event::task_begin);
    p.number(id);
    p.number(parent);
    p.number(number);
  });
}
void task_ends(M* m, std::uint64_t id) noexcept {
  write(m, [&](event_writer& p) {
    p.put(event::task_end);
    p.number(id);
  });
}
void log(M* m, std::uint64_t task, std::string_view category, std::string_view text) noexcept {
  write(m, [&](event_writer& p) {
    const std::uint32_t number = p.string(category);
    p.put(event::log, text.size());
    p.number(task);
    p.number(number);
    p.text(text);
  });
}

void thread_ends(M& m) noexcept {
  traced& t = m.trace;
  if (chunk_header* const left = t.buffer.exchange(nullptr, seq_cst)) submit(left);
  t.at = nullptr;
  t.stamp.store(0, release);
  t.in_call = t.captured = false;
  if (t.defined != nullptr) put_dictionary(t.defined);
  t.defined = nullptr;
  become_quiet(m.hot);
}

void skew_clocks(std::int64_t ticks) noexcept { shared.skew.store(ticks, relaxed); }

}  // namespace vole::rt::trace
