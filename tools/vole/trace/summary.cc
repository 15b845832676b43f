// Adding up; see summary.h.
#include "trace/summary.h"

#include <algorithm>
#include <unordered_map>

namespace vole_trace {
namespace {

class adder final : public consumer {
 public:
  adder(const trace_file& file, summary& s) : file_(file), s_(s) {}

  void on(const span& x) override;
  void on(const p_span& x) override;
  void on(const remark& r) override;
  void finish();

 private:
  std::uint32_t function(std::uint32_t g);
  void add_wait(const span& x, function_sum& f, std::uint32_t number);
  void add_call(const span& x, double ns);
  void count_end(const span& x);
  void live(const span& x);
  p_sum& p_of(std::uint32_t p) {
    if (p >= s_.ps.size()) s_.ps.resize(p + 1);
    return s_.ps[p];
  }

  const trace_file& file_;
  summary& s_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_place_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::vector<std::uint32_t> function_;                // of each goroutine; kNobody: not asked yet
  std::unordered_map<std::uint32_t, double> in_call_;  // ns so far, by goroutine
  struct life {
    double from, to;  // from negative: it has not been seen
  };
  std::vector<life> lives_;  // of each goroutine
  double stop_began_ = -1;
};

std::uint32_t adder::function(std::uint32_t g) {
  if (g >= function_.size()) function_.resize(s_.all.goroutines.size(), kNobody);
  if (function_[g] != kNobody) return function_[g];
  const std::uint32_t fn = s_.all.goroutines[g].fn;
  auto found = by_place_.find(fn);
  if (found == by_place_.end()) {
    const std::string name = function_of(file_, s_.all, fn);
    const auto [named, is_new] =
        by_name_.emplace(name, static_cast<std::uint32_t>(s_.functions.size()));
    if (is_new) s_.functions.emplace_back().name = name;
    found = by_place_.emplace(fn, named->second).first;
  }
  ++s_.functions[found->second].goroutines;
  return function_[g] = found->second;
}

void adder::add_wait(const span& x, function_sum& f, std::uint32_t number) {
  const double ns = x.to - x.from;
  const std::uint64_t reason = s_.all.places.reason(x.place);
  f.waited[reason] += ns;
  f.at[x.place] += ns;
  s_.reasons[reason].add(ns);
  place_sum& place = s_.places[x.place];
  place.place = x.place;
  ++place.count;
  place.ns += ns;
  place.longest = std::max(place.longest, ns);
  if (x.end != cause::unblock) return;
  const std::uint32_t by = x.ended_by != kNobody ? function(x.ended_by)
                           : x.ended_on == 0     ? kByOutside
                                                 : kByScheduler;
  wake_sum& wake = s_.wakes[{by, number, reason}];
  ++wake.count;
  wake.waited += ns;
}

// A call is several spans if the P comes or goes meanwhile.
void adder::add_call(const span& x, double ns) {
  place_sum& place = s_.calls[x.place];
  place.place = x.place;
  place.ns += ns;
  double& whole = in_call_[x.g];
  whole += ns;
  place.longest = std::max(place.longest, whole);
  if (x.end == cause::stolen || x.end == cause::gave_p || x.end == cause::got_p) return;
  ++place.count;
  in_call_.erase(x.g);
}

void adder::count_end(const span& x) {
  switch (x.end) {
    case cause::yield: ++s_.yields; break;
    case cause::preempt: ++s_.preemptions; break;
    case cause::requeue: ++s_.requeued; break;
    case cause::gave_p: ++s_.given_up; break;
    case cause::end: ++s_.ended; break;
    case cause::stolen:
      if (x.what == state::call) ++s_.taken_from_calls;
      if (x.what == state::running) ++s_.evictions;
      break;
    default: break;
  }
}

// From its first moment to its last, whatever lies between: what states add up to is held to that.
void adder::live(const span& x) {
  if (x.g >= lives_.size()) lives_.resize(s_.all.goroutines.size(), {-1, 0});
  life& l = lives_[x.g];
  if (l.from < 0) l.from = x.from;
  l.to = x.to;
}

void adder::on(const span& x) {
  const std::uint32_t number = function(x.g);
  function_sum& f = s_.functions[number];
  const double ns = x.to - x.from;
  f.ns[static_cast<std::size_t>(x.what)] += ns;
  live(x);
  if (x.why == cause::create) ++s_.created;
  count_end(x);
  switch (x.what) {
    case state::running:
      if (x.p != kNobody) p_of(x.p).running += ns;
      break;
    case state::call:
      if (x.p != kNobody) p_of(x.p).calls += ns;
      add_call(x, ns);
      break;
    case state::runnable:
      if (x.end != cause::run || x.why == cause::begin) break;
      f.until_run.add(ns);
      s_.until_run.add(ns);
      break;
    case state::waiting: add_wait(x, s_.functions[number], number); break;
    default: break;
  }
}

void adder::on(const p_span& x) {
  p_of(x.p).held += x.to - x.from;
  if (x.stolen) ++s_.taken;
}

void adder::on(const remark& r) {
  if (r.type == kStopBegin && stop_began_ < 0) stop_began_ = r.time;
  if (r.type != kStopEnd || stop_began_ < 0) return;
  ++s_.stops;
  s_.stopped += r.time - stop_began_;
  stop_began_ = -1;
}

void adder::finish() {
  s_.ps.resize(std::max<std::size_t>(s_.ps.size(), s_.all.ps));
  for (std::uint32_t g = 0; g < s_.all.goroutines.size(); ++g) function(g);
  for (const life& l : lives_)
    if (l.from >= 0) s_.lifetimes += l.to - l.from;
}

}  // namespace

summary summarise(const trace_file& file) {
  summary s;
  adder to(file, s);
  tell(file, s.all, to);
  to.finish();
  return s;
}

std::string place_name(const trace_file& file, const history& h, std::uint32_t place) {
  const auto& pcs = h.places.pcs(place);
  const frame* best = nullptr;
  for (const std::uint64_t pc : pcs) {
    const auto found = file.symbols.find(pc);
    if (found == file.symbols.end()) continue;
    for (const frame& f : found->second) {
      const bool own = f.function.starts_with("vole::");
      if (best == nullptr || !own) best = &f;
      if (!own) break;
    }
    if (best != nullptr && !best->function.starts_with("vole::")) break;
  }
  if (best == nullptr) return name_of_pc(file, pcs.empty() ? 0 : pcs.front());
  std::string name(best->function);
  if (!best->file.empty()) {
    const std::size_t slash = best->file.rfind('/');
    name += " at ";
    name += slash == std::string_view::npos ? best->file : best->file.substr(slash + 1);
    if (best->line != 0) name += ":" + std::to_string(best->line);
  }
  return name;
}

}  // namespace vole_trace
