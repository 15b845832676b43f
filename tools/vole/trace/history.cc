// See history.h.
#include "trace/history.h"

#include <algorithm>

namespace vole_trace {
namespace {

class joiner final : public listener {
 public:
  joiner(const trace_file& file, history& all, consumer& to) : file_(file), all_(all), to_(to) {}

  void read();
  void on(const change& c) override;
  void on(const p_change& c) override;
  void on(const remark& r) override;

 private:
  void read_generation(const generation& g);
  void leave_out(const generation& g, const std::string& why);
  void forget();
  void begin(const scan& s);
  void begin_goroutine(const scan& s, const scanned_goroutine& from, goroutine& g);
  void begin_ps(const scan& s);
  void finish();

  void close(goroutine& g, double at, cause end, std::uint32_t by, std::uint32_t on);
  void close_p(std::uint32_t p, bool stolen);
  double at(double in_generation) { return now_ = std::max(now_, base_ + in_generation); }
  std::uint32_t thread(std::uint32_t t) const {
    return t == kNobody ? kNobody : scan_->threads[t].number;
  }
  std::uint32_t global(std::uint32_t g) const { return g == kNobody ? kNobody : number_of_[g]; }

  const trace_file& file_;
  history& all_;
  consumer& to_;
  id_table ids_;
  const generation* first_ = nullptr;
  std::uint32_t previous_ = 0;
  double now_ = 0, base_ = 0;
  const scan* scan_ = nullptr;
  std::vector<std::uint32_t> number_of_;  // goroutines of the scan, in all_
  std::vector<p_span> ps_;                // thread kNobody: free
};

void joiner::read() {
  for (const generation& g : file_.generations) {
    if (!g.trouble.empty()) {
      leave_out(g, g.trouble);
      continue;
    }
    try {
      read_generation(g);
    } catch (const damaged& why) {
      leave_out(g, why.what());
    }
  }
  if (first_ == nullptr) {
    throw damaged(all_.problems.empty() ? "Nothing in this trace can be read."
                                        : all_.problems.front());
  }
  finish();
}

void joiner::leave_out(const generation& g, const std::string& why) {
  all_.problems.push_back("Generation " + std::to_string(g.number) + " is left out: " + why + ".");
  if (g.end) all_.lost += g.end->lost;
  if (first_ == nullptr || !g.begin) return;
  const auto since = [&](std::uint64_t mono) {
    return static_cast<double>(static_cast<std::int64_t>(mono - first_->begin->mono));
  };
  const double from = since(g.begin->mono), to = g.end ? since(g.end->mono) : from;
  if (to > from) all_.gaps.push_back({from, to, why});
}

void joiner::read_generation(const generation& g) {
  const scan s = scan_generation(file_.content, g, all_.places);
  put_in_order(s, nullptr);  // throws before anything is told
  const generation& origin = first_ == nullptr ? g : *first_;
  const double base =
      static_cast<double>(static_cast<std::int64_t>(g.begin->mono - origin.begin->mono));
  if (base < 0) throw damaged("it begins before the one before it");
  if (first_ == nullptr) {
    first_ = &g;
    all_.pid = g.begin->pid;
    all_.wall = g.begin->wall;
    all_.mono = g.begin->mono;
  } else if (previous_ + 1 != g.number) {
    forget();
  }
  previous_ = g.number;
  scan_ = &s;
  base_ = base;
  begin(s);
  put_in_order(s, this);
  const clock_scale clock(g);
  if (g.end) at(clock.at(g.end->ticks));
  all_.events += s.events;
  ++all_.generations;
  scan_ = nullptr;
}

// After a gap nothing is known about anybody until the next generation says it.
void joiner::forget() {
  for (goroutine& g : all_.goroutines) {
    if (!g.alive) continue;
    close(g, now_, cause::begin, kNobody, kNobody);
    g.now.what = state::unknown;
    g.now.why = cause::begin;
  }
  for (std::uint32_t p = 0; p < ps_.size(); ++p) close_p(p, false);
}

void joiner::begin(const scan& s) {
  at(0);
  number_of_.resize(s.goroutines.size());
  for (std::size_t i = 0; i < s.goroutines.size(); ++i) {
    const scanned_goroutine& from = s.goroutines[i];
    const std::uint32_t number = ids_.add(from.id);
    if (number == all_.goroutines.size()) all_.goroutines.emplace_back().id = from.id;
    number_of_[i] = number;
    goroutine& g = all_.goroutines[number];
    g.seen = s.of->number;
    g.now.g = number;
    begin_goroutine(s, from, g);
  }
  // A goroutine that is not mentioned has ended.
  for (goroutine& g : all_.goroutines) {
    if (!g.alive || g.seen == s.of->number) continue;
    close(g, now_, cause::end, kNobody, kNobody);
    g.alive = false;
  }
  begin_ps(s);
}

void joiner::begin_goroutine(const scan& s, const scanned_goroutine& from, goroutine& g) {
  if (from.parent != 0) g.parent = from.parent;
  if (from.fn != 0) g.fn = from.fn;
  if (from.site != 0) g.site = from.site;
  if (!from.name.empty()) g.name = from.name;
  if (from.created || from.begin == state::unknown) return;
  const std::uint32_t on = thread(from.thread);
  const std::uint32_t p = from.thread == kNobody ? kNobody : s.threads[from.thread].p;
  if (g.alive && g.now.what == from.begin &&
      (!on_thread(from.begin) || (g.now.thread == on && g.now.p == p))) {
    return;
  }
  if (g.alive) close(g, now_, cause::begin, kNobody, kNobody);
  if (!g.alive) g.waited = from.waited;
  g.alive = true;
  g.now.what = from.begin;
  g.now.why = cause::begin;
  g.now.from = now_;
  g.now.thread = on;
  g.now.p = p;
  g.now.place = from.begin == state::waiting ? all_.places.add(from.reason, {}) : 0;
  g.now.by = kNobody;
}

void joiner::begin_ps(const scan& s) {
  if (ps_.size() < s.ps.size()) {
    for (auto p = static_cast<std::uint32_t>(ps_.size()); p < s.ps.size(); ++p) {
      ps_.push_back({p, kNobody, 0, 0, false});
    }
    all_.ps = static_cast<std::uint32_t>(ps_.size());
  }
  for (std::uint32_t p = 0; p < s.ps.size(); ++p) {
    const std::uint32_t holder = thread(s.ps[p].holder);
    if (ps_[p].thread == holder) continue;
    close_p(p, false);
    ps_[p].thread = holder;
    ps_[p].from = now_;
  }
}

void joiner::close(goroutine& g, double when, cause end, std::uint32_t by, std::uint32_t on) {
  g.now.to = when;
  g.now.end = end;
  g.now.ended_by = by;
  g.now.ended_on = on;
  to_.on(g.now);
  g.now.from = when;
  g.now.by = kNobody;
  g.now.thread = g.now.p = kNobody;
  g.now.place = 0;
}

void joiner::close_p(std::uint32_t p, bool stolen) {
  p_span& held = ps_[p];
  if (held.thread == kNobody) return;
  held.to = now_;
  held.stolen = stolen;
  to_.on(held);
  held.thread = kNobody;
}

void joiner::on(const change& c) {
  const double when = at(c.time);
  goroutine& g = all_.goroutines[number_of_[c.g]];
  const std::uint32_t by = global(c.by), on = thread(c.thread);
  const std::uint32_t call_site = g.now.what == state::call ? g.now.place : 0;
  if (c.why == cause::create) {
    if (g.alive) close(g, when, cause::end, kNobody, kNobody);
    g.alive = g.born = true;
    g.now.from = when;
    if (g.parent == 0 && by != kNobody) g.parent = all_.goroutines[by].id;
  } else if (g.alive) {
    close(g, when, c.why, by, on);
  }
  if (c.to == state::dead) {
    g.alive = false;
    return;
  }
  g.now.what = c.to;
  g.now.why = c.why;
  if (on_thread(c.to)) {
    g.now.thread = on;
    g.now.p = c.p;
  }
  g.now.place = c.to == state::call && c.why != cause::call_begin ? call_site : c.place;
  g.now.by = by;
}

void joiner::on(const p_change& c) {
  at(c.time);
  close_p(c.p, c.stolen);
  ps_[c.p].thread = thread(c.thread);
  ps_[c.p].from = now_;
}

void joiner::on(const remark& r) {
  remark out = r;
  out.time = at(r.time);
  out.thread = thread(r.thread);
  out.g = global(r.g);
  if (r.type == kGName && out.g != kNobody) all_.goroutines[out.g].name = r.name;
  to_.on(out);
}

void joiner::finish() {
  all_.duration = now_;
  for (goroutine& g : all_.goroutines) {
    if (g.alive) close(g, now_, cause::begin, kNobody, kNobody);
  }
  for (std::uint32_t p = 0; p < ps_.size(); ++p) close_p(p, false);
}

std::string hexadecimal(std::uint64_t x) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[x & 15]);
    x >>= 4;
  } while (x != 0);
  return "0x" + digits;
}

}  // namespace

void tell(const trace_file& file, history& all, consumer& to) {
  all.problems = file.problems;
  joiner(file, all, to).read();
}

std::string name_of_pc(const trace_file& file, std::uint64_t pc) {
  const auto found = file.symbols.find(pc);
  // The last frame is the function itself; those before it are inlined into it.
  if (found != file.symbols.end() && !found->second.empty() &&
      !found->second.back().function.empty()) {
    return std::string(found->second.back().function);
  }
  for (const module_info& m : file.modules) {
    if (pc < m.from || pc >= m.to) continue;
    const std::size_t slash = m.path.rfind('/');
    const auto name = slash == std::string_view::npos ? m.path : m.path.substr(slash + 1);
    return std::string(name) + "+" + hexadecimal(pc - m.bias);
  }
  return pc == 0 ? "(not known)" : hexadecimal(pc);
}

std::string function_of(const trace_file& file, const history& h, std::uint32_t fn_place) {
  const auto& pcs = h.places.pcs(fn_place);
  return name_of_pc(file, pcs.empty() ? 0 : pcs.front());
}

std::string reason_of(const trace_file& file, std::uint64_t reason) {
  if (reason < file.reasons.size()) return std::string(file.reasons[reason]);
  return "reason " + std::to_string(reason);
}

}  // namespace vole_trace
