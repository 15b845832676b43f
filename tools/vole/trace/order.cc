// See order.h.
#include "trace/order.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace vole_trace {
namespace {

enum class waits_for : std::uint8_t { goroutine, p, progress, theft };

struct head {  // a thread's next event
  event_reader from;
  event next;
  std::uint64_t taken = 0;  // events that have come
  std::size_t thefts = 0;   // of its P, that have come
};

struct live_thread {
  std::uint32_t p;
  std::uint32_t g;
};

struct live_goroutine {
  std::uint64_t seq = 0;
  state now = state::unknown;
  std::uint32_t thread = kNobody;
  bool introduced = false;
};

struct live_p {
  std::uint32_t holder;
  std::uint64_t acquisition;
};

class sorter {
 public:
  sorter(const scan& s, listener* to);
  double run();

 private:
  using queued = std::pair<std::int64_t, std::uint32_t>;  // ticks since the begin, thread

  bool take(std::uint32_t t);
  bool take_rare(std::uint32_t t, const event& e);
  bool unblock(std::uint32_t t, const event& e);
  bool run_goroutine(std::uint32_t t, const event& e);
  bool switch_goroutine(std::uint32_t t, const event& e);
  bool create(std::uint32_t t, const event& e);
  bool requeue(std::uint32_t t);
  bool call_begin(std::uint32_t t, const event& e);
  bool call_end(std::uint32_t t);
  bool thread_first(std::uint32_t t);
  bool proc_start(std::uint32_t t, const event& e);
  bool proc_stop(std::uint32_t t);
  bool proc_steal(std::uint32_t t, const event& e);
  void leave(std::uint32_t t, const event& e);
  void start(std::uint32_t t, std::uint32_t g, std::uint64_t seq);

  bool may_run(std::uint32_t g, std::uint64_t seq, bool is_own) const;
  std::uint32_t find(std::uint64_t id) const;
  std::uint32_t own_goroutine(std::uint32_t t) const;
  void check_number(std::uint32_t g, std::uint64_t seq) const;
  void set(std::uint32_t t, std::uint32_t g, state to, cause why, std::uint32_t place = 0,
           std::uint32_t by = kNobody);
  void say(std::uint32_t t, const event& e);
  bool park(waits_for what, std::uint64_t which);
  void touch(waits_for what, std::uint64_t which);
  void push(std::uint32_t t);
  bool theft_is_due(std::uint32_t t) const;
  [[noreturn]] void no_order() const;

  static std::uint64_t key(waits_for what, std::uint64_t which) {
    return which << 2 | static_cast<std::uint64_t>(what);
  }

  const scan& s_;
  listener* const to_;
  const clock_scale clock_;
  std::vector<head> heads_;
  std::vector<live_thread> threads_;
  std::vector<live_goroutine> gs_;
  std::vector<live_p> ps_;
  std::priority_queue<queued, std::vector<queued>, std::greater<>> ready_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> parked_;
  std::uint64_t parked_key_ = 0;  // of the event that was just refused
  double now_ = 0;
};

sorter::sorter(const scan& s, listener* to)
    : s_(s), to_(to), clock_(*s.of), heads_(s.threads.size()), gs_(s.goroutines.size()) {
  for (const scanned_thread& t : s.threads) threads_.push_back({t.p, t.g});
  for (const scanned_p& p : s.ps) ps_.push_back({p.holder, p.acquisition});
  for (std::size_t g = 0; g < gs_.size(); ++g) {
    const scanned_goroutine& from = s.goroutines[g];
    gs_[g].introduced = from.has_first;
    if (from.created) continue;
    gs_[g].now = from.begin;
    gs_[g].thread = from.thread;
  }
}

void sorter::push(std::uint32_t t) {
  ready_.emplace(static_cast<std::int64_t>(heads_[t].next.ticks - clock_.origin), t);
}

double sorter::run() {
  for (std::uint32_t t = 0; t < heads_.size(); ++t) {
    if (s_.threads[t].chunks == nullptr) continue;
    heads_[t].from = event_reader(s_.content, s_.threads[t].chunks);
    if (heads_[t].from.next(heads_[t].next)) push(t);
  }
  while (!ready_.empty()) {
    const std::uint32_t t = ready_.top().second;
    ready_.pop();
    head& h = heads_[t];
    for (;;) {
      const double before = now_;
      now_ = std::max(now_, clock_.at(h.next.ticks));
      bool taken = false;
      try {
        taken = take(t);
      } catch (const damaged& why) {
        throw damaged(where(s_.threads[t], h.from) + why.what());
      }
      if (!taken) {
        now_ = before;
        parked_.emplace(parked_key_, t);
        break;
      }
      ++h.taken;
      if (!parked_.empty()) touch(waits_for::progress, t);
      if (!h.from.next(h.next)) break;
      const auto next = static_cast<std::int64_t>(h.next.ticks - clock_.origin);
      if (ready_.empty() || next < ready_.top().first) continue;
      push(t);
      break;
    }
  }
  if (!parked_.empty() && !s_.of->partial) no_order();
  return now_;
}

void sorter::no_order() const {
  // The earliest of those that cannot come is the likeliest to be where it went wrong.
  const auto first =
      std::min_element(parked_.begin(), parked_.end(), [&](const auto& a, const auto& b) {
        return static_cast<std::int64_t>(heads_[a.second].next.ticks - clock_.origin) <
               static_cast<std::int64_t>(heads_[b.second].next.ticks - clock_.origin);
      });
  const std::uint32_t t = first->second;
  const auto what = static_cast<waits_for>(first->first & 3);
  const std::uint64_t which = first->first >> 2;
  std::string for_what;
  if (what == waits_for::goroutine) {
    const live_goroutine& g = gs_[which];
    static constexpr const char* kNames[] = {"runnable", "running",   "waiting", "in a call",
                                             "evicted",  "preempted", "unknown", "ended"};
    for_what = "it needs goroutine " + std::to_string(s_.goroutines[which].id) +
               ", which has had " + std::to_string(g.seq) + " numbered events and is " +
               kNames[static_cast<std::size_t>(g.now)];
  } else if (what == waits_for::p) {
    for_what = "it needs P " + std::to_string(which) + ", whose last acquisition was " +
               std::to_string(ps_[which].acquisition) +
               (ps_[which].holder == kNobody ? " and which is free" : " and which is held");
  } else if (what == waits_for::progress) {
    for_what = "it needs more events of thread " + std::to_string(s_.threads[which].number);
  } else {
    for_what = "its thread has a P that nobody takes";
  }
  throw damaged("its events have no order: " + where(s_.threads[t], heads_[t].from) + "type " +
                std::to_string(heads_[t].next.type) + " can never come; " + for_what);
}

bool sorter::park(waits_for what, std::uint64_t which) {
  parked_key_ = key(what, which);
  return false;
}

void sorter::touch(waits_for what, std::uint64_t which) {
  if (parked_.empty()) return;
  const auto [from, to] = parked_.equal_range(key(what, which));
  for (auto i = from; i != to; ++i) push(i->second);
  parked_.erase(from, to);
}

void sorter::set(std::uint32_t t, std::uint32_t g, state to, cause why, std::uint32_t place,
                 std::uint32_t by) {
  gs_[g].now = to;
  touch(waits_for::goroutine, g);
  if (to_ != nullptr) to_->on(change{now_, g, to, why, t, threads_[t].p, place, by});
}

std::uint32_t sorter::find(std::uint64_t id) const {
  const std::uint32_t g = s_.ids.find(id);
  // In a generation that goes as far as it goes, what introduces it may be missing.
  const bool known = g != kNobody && (s_.goroutines[g].has_first || s_.goroutines[g].created);
  if (!known && !s_.of->partial) {
    throw damaged("goroutine " + std::to_string(id) + " was never introduced");
  }
  return g;
}

void sorter::check_number(std::uint32_t g, std::uint64_t seq) const {
  if (seq <= gs_[g].seq) {
    throw damaged("goroutine " + std::to_string(s_.goroutines[g].id) + " has had its event " +
                  std::to_string(seq) + " already");
  }
}

std::uint32_t sorter::own_goroutine(std::uint32_t t) const {
  const std::uint32_t g = threads_[t].g;
  if (g == kNobody) throw damaged("the thread has no goroutine");
  if (!gs_[g].introduced && !s_.of->partial) {
    throw damaged("goroutine " + std::to_string(s_.goroutines[g].id) + " was never introduced");
  }
  return g;
}

// Its P is taken between the event before this one and this one.
bool sorter::theft_is_due(std::uint32_t t) const {
  const std::vector<std::uint64_t>& after = s_.threads[t].thefts;
  const head& h = heads_[t];
  return h.thefts < after.size() && h.taken >= after[h.thefts];
}

bool sorter::take(std::uint32_t t) {
  const event& e = heads_[t].next;
  if (theft_is_due(t)) return park(waits_for::theft, t);
  switch (e.type) {
    case kGUnblock: return unblock(t, e);
    case kGRun: return run_goroutine(t, e);
    case kBlockRun:
    case kYieldRun:
    case kPreemptRun:
    case kEndRun:
    case kBlockWoken:
    case kYieldWoken:
    case kEndWoken: return switch_goroutine(t, e);
    case kGBlock:
    case kGYield:
    case kGPreempt:
    case kGEnd: leave(t, e); return true;
    default: return take_rare(t, e);
  }
}

bool sorter::take_rare(std::uint32_t t, const event& e) {
  switch (e.type) {
    case kDefSite:
    case kDefString:
    case kGFirst: return true;
    case kThreadFirst: return thread_first(t);
    case kProcStart: return proc_start(t, e);
    case kProcStop: return proc_stop(t);
    case kProcSteal: return proc_steal(t, e);
    case kGCreate: return create(t, e);
    case kGRequeue: return requeue(t);
    case kCallBegin: return call_begin(t, e);
    case kCallEnd: return call_end(t);
    default: say(t, e); return true;
  }
}

bool sorter::unblock(std::uint32_t t, const event& e) {
  const std::uint32_t g = find(e.g);
  if (g == kNobody) return park(waits_for::goroutine, gs_.size());
  check_number(g, e.seq);
  if (gs_[g].seq + 1 != e.seq || gs_[g].now != state::waiting) {
    return park(waits_for::goroutine, g);
  }
  gs_[g].seq = e.seq;
  set(t, g, state::runnable, cause::unblock, 0, threads_[t].g);
  return true;
}

bool sorter::may_run(std::uint32_t g, std::uint64_t seq, bool is_own) const {
  const state s = gs_[g].now;
  return gs_[g].seq + 1 == seq && (is_own || s == state::runnable || s == state::preempted);
}

void sorter::start(std::uint32_t t, std::uint32_t g, std::uint64_t seq) {
  gs_[g].seq = seq;
  gs_[g].thread = t;
  threads_[t].g = g;
  set(t, g, threads_[t].p == kNobody ? state::evicted : state::running, cause::run);
}

bool sorter::run_goroutine(std::uint32_t t, const event& e) {
  if (s_.threads[t].number == 0) throw damaged("thread 0 is no M and runs no goroutine");
  if (threads_[t].g != kNobody) throw damaged("the thread runs two goroutines at once");
  const std::uint32_t g = find(e.g);
  if (g == kNobody) return park(waits_for::goroutine, gs_.size());
  check_number(g, e.seq);
  if (!may_run(g, e.seq, false)) return park(waits_for::goroutine, g);
  start(t, g, e.seq);
  return true;
}

bool sorter::switch_goroutine(std::uint32_t t, const event& e) {
  const std::uint32_t g = find(e.g);
  if (g == kNobody) return park(waits_for::goroutine, gs_.size());
  check_number(g, e.seq);
  const bool stays = e.type == kYieldRun || e.type == kPreemptRun;
  if (!may_run(g, e.seq, stays && g == threads_[t].g)) return park(waits_for::goroutine, g);
  leave(t, e);
  start(t, g, e.seq);
  return true;
}

// The thread's goroutine stops running.
void sorter::leave(std::uint32_t t, const event& e) {
  const std::uint32_t g = own_goroutine(t);
  if (gs_[g].now != state::running) {
    throw damaged("goroutine " + std::to_string(s_.goroutines[g].id) +
                  " blocks, yields or ends without a P, or in a call");
  }
  threads_[t].g = kNobody;
  gs_[g].thread = kNobody;
  switch (e.type) {
    case kGBlock:
    case kBlockRun:
    case kBlockWoken: return set(t, g, state::waiting, cause::block, s_.threads[t].sites[e.site]);
    case kGYield:
    case kYieldRun:
    case kYieldWoken: return set(t, g, state::runnable, cause::yield);
    case kGPreempt:
    case kPreemptRun: return set(t, g, state::runnable, cause::preempt);
    default: return set(t, g, state::dead, cause::end);
  }
}

bool sorter::create(std::uint32_t t, const event& e) {
  const std::uint32_t g = s_.ids.find(e.g);
  gs_[g].introduced = true;
  gs_[g].seq = 1;
  set(t, g, state::runnable, cause::create, 0, threads_[t].g);
  return true;
}

bool sorter::requeue(std::uint32_t t) {
  const std::uint32_t g = own_goroutine(t);
  if (threads_[t].p != kNobody) return park(waits_for::theft, t);
  threads_[t].g = kNobody;
  gs_[g].thread = kNobody;
  set(t, g, state::runnable, cause::requeue);
  return true;
}

bool sorter::call_begin(std::uint32_t t, const event& e) {
  const std::uint32_t g = own_goroutine(t);
  if (gs_[g].now == state::call) throw damaged("a call begins within a call");
  set(t, g, state::call, cause::call_begin, s_.threads[t].sites[e.site]);
  return true;
}

bool sorter::call_end(std::uint32_t t) {
  const std::uint32_t g = own_goroutine(t);
  if (gs_[g].now != state::call) throw damaged("a call ends that never began");
  set(t, g, threads_[t].p == kNobody ? state::evicted : state::running, cause::call_end);
  return true;
}

bool sorter::thread_first(std::uint32_t t) {
  const scanned_thread& said = s_.threads[t];
  if (threads_[t].p == said.first_p) return true;
  if (threads_[t].p != kNobody && said.first_p == kNobody) return park(waits_for::theft, t);
  throw damaged("the thread does not have the P that it says");
}

bool sorter::proc_start(std::uint32_t t, const event& e) {
  if (s_.threads[t].number == 0) throw damaged("thread 0 is no M and has no P");
  if (threads_[t].p != kNobody) return park(waits_for::theft, t);
  live_p& p = ps_[e.p];
  if (e.acquisition <= p.acquisition) {
    throw damaged("P " + std::to_string(e.p) + " has had its acquisition " +
                  std::to_string(e.acquisition) + " already");
  }
  if (p.holder != kNobody || p.acquisition + 1 != e.acquisition) return park(waits_for::p, e.p);
  p = {t, e.acquisition};
  threads_[t].p = static_cast<std::uint32_t>(e.p);
  touch(waits_for::p, e.p);
  if (to_ != nullptr) to_->on(p_change{now_, threads_[t].p, t, false, kNobody});
  const std::uint32_t g = threads_[t].g;
  if (g != kNobody) {
    set(t, g, gs_[g].now == state::call ? state::call : state::running, cause::got_p);
  }
  return true;
}

bool sorter::proc_stop(std::uint32_t t) {
  const std::uint32_t p = threads_[t].p;
  if (p == kNobody) throw damaged("a thread without a P gives one back");
  threads_[t].p = kNobody;
  ps_[p].holder = kNobody;
  touch(waits_for::p, p);
  if (to_ != nullptr) to_->on(p_change{now_, p, kNobody, false, t});
  const std::uint32_t g = threads_[t].g;
  if (g != kNobody) {
    set(t, g, gs_[g].now == state::call ? state::call : state::evicted, cause::gave_p);
  }
  return true;
}

bool sorter::proc_steal(std::uint32_t t, const event& e) {
  const auto found = s_.thread_index.find(e.thread);
  if (found == s_.thread_index.end()) {
    throw damaged("a P is taken from thread " + std::to_string(e.thread) + ", which there is not");
  }
  const std::uint32_t from = found->second;
  if (heads_[from].taken < e.events) return park(waits_for::progress, from);
  live_p& p = ps_[e.p];
  if (p.holder != from || p.acquisition != e.acquisition) {
    if (p.acquisition >= e.acquisition) {
      throw damaged("acquisition " + std::to_string(e.acquisition) + " of P " +
                    std::to_string(e.p) + " is taken from thread " + std::to_string(e.thread) +
                    ", which does not have it");
    }
    return park(waits_for::p, e.p);
  }
  p.holder = kNobody;
  threads_[from].p = kNobody;
  ++heads_[from].thefts;
  touch(waits_for::p, e.p);
  touch(waits_for::theft, from);
  if (to_ != nullptr) {
    to_->on(p_change{now_, static_cast<std::uint32_t>(e.p), kNobody, true, from});
  }
  const std::uint32_t g = threads_[from].g;
  if (g != kNobody) {
    set(from, g, gs_[g].now == state::call ? state::call : state::evicted, cause::stolen, 0,
        threads_[t].g);
  }
  return true;
}

void sorter::say(std::uint32_t t, const event& e) {
  if (to_ == nullptr) return;
  remark r;
  r.time = now_;
  r.type = e.type;
  r.thread = t;
  r.g = threads_[t].g;
  switch (e.type) {
    case kGName:
      r.g = s_.ids.find(e.g);
      if (r.g == kNobody) return;
      r.name = s_.threads[t].strings[e.name];
      break;
    case kStopEnd: break;
    case kTaskEnd: r.task = e.task; break;
    case kTaskBegin:
      r.task = e.task;
      r.parent = e.parent;
      r.name = s_.threads[t].strings[e.name];
      break;
    case kLog:
      r.task = e.task;
      r.text = e.text;
      r.name = s_.threads[t].strings[e.name];
      break;
    default: r.name = s_.threads[t].strings[e.name];
  }
  to_->on(r);
}

}  // namespace

clock_scale::clock_scale(const generation& g) : origin(g.begin->ticks) {
  scale = 1e9 / static_cast<double>(g.begin->per_second);
  if (g.end && g.end->ticks > g.begin->ticks) {
    scale = static_cast<double>(static_cast<std::int64_t>(g.end->mono - g.begin->mono)) /
            static_cast<double>(g.end->ticks - g.begin->ticks);
  }
  if (!(scale > 0 && scale <= 1e9)) throw damaged("its clock makes no sense");
}

double put_in_order(const scan& s, listener* to) { return sorter(s, to).run(); }

}  // namespace vole_trace
