// A summary for people, in at most 100 columns.
#include <algorithm>

#include "trace/function_name.h"
#include "trace/summary.h"
#include "trace/words.h"

namespace vole_trace {
namespace {

constexpr std::size_t kRows = 15;  // of each table

double spent(const function_sum& f, state s) { return f.ns[static_cast<std::size_t>(s)]; }

std::string short_name(const std::string& name) {
  const std::string text = short_function(name);
  return text.empty() ? name : text;
}

class writer {
 public:
  writer(const trace_file& file, const summary& s) : file_(file), s_(s) {}
  std::string write();

 private:
  std::string title(const function_sum& f) const;
  void heading();
  void functions();
  void function_row(const function_sum& f);
  void reasons();
  void places(const char* title, const std::map<std::uint32_t, place_sum>& all, bool with_reason);
  void scheduling();
  void histogram();
  void wakes();
  void ps();
  void events();
  void problems();

  void line(const std::string& text) {
    out_ += text;
    out_ += '\n';
  }
  void rest(std::size_t all) {
    if (all > kRows) line("  … and " + count_text(all - kRows) + " more");
  }
  std::string reason(std::uint64_t r) const {
    const std::string name = reason_of(file_, r);
    return r == 0 || name.empty() ? "(not known)" : name;
  }
  std::string function(std::uint32_t f) const {
    if (f == kByScheduler) return "(a timer or the network)";
    if (f == kByOutside) return "(sysmon or a plain thread)";
    return title(s_.functions[f]);
  }

  const trace_file& file_;
  const summary& s_;
  std::string out_;
};

std::string plural(std::uint64_t n, const char* what) {
  return count_text(n) + " " + what + (n == 1 ? "" : "s");
}

// What was started by a pointer has a type and no name: then where it waits most.
std::string writer::title(const function_sum& f) const {
  if (const std::string text = short_function(f.name); !text.empty()) return text;
  const auto most = std::max_element(
      f.at.begin(), f.at.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == f.at.end()) return f.name;
  const std::string place = place_name(file_, s_.all, most->first);
  if (place.starts_with('(')) return f.name;
  return "in " + short_name(place.substr(0, place.rfind(" at ")));
}

void writer::heading() {
  line("Process " + std::to_string(s_.all.pid) + ": " + duration_text(s_.all.duration) + ", " +
       plural(s_.all.ps, "P") + ", " + plural(s_.all.goroutines.size(), "goroutine") + ", " +
       plural(s_.all.events, "event") + " in " + plural(s_.all.generations, "generation") +
       ((file_.flags & kRecovered) != 0 ? ", recovered from a ring" : ""));
  problems();
}

void writer::problems() {
  if (s_.all.lost != 0) line(plural(s_.all.lost, "event") + " were lost when it was recorded.");
  for (const std::string& problem : s_.all.problems) line(shown(problem));
  double missing = 0;
  for (const gap& g : s_.all.gaps) missing += g.to - g.from;
  if (missing > 0) {
    line(plural(s_.all.gaps.size(), "gap") + ": " + duration_text(missing) +
         " are missing; what goroutines did then counts as unknown.");
  }
}

void writer::function_row(const function_sum& f) {
  std::string row = "  " + left(title(f), 31) + right(count_text(f.goroutines), 10);
  for (const state s :
       {state::running, state::runnable, state::waiting, state::call, state::evicted}) {
    double ns = spent(f, s);
    if (s == state::runnable) ns += spent(f, state::preempted);
    row += right(ns == 0 ? "-" : duration_text(ns), 11);
  }
  line(row);
}

void writer::functions() {
  line(
      "\nGoroutines by function              count    running   runnable    blocked   in calls"
      "    evicted");
  std::vector<const function_sum*> order;
  function_sum total;
  total.name = "all";
  for (const function_sum& f : s_.functions) {
    order.push_back(&f);
    total.goroutines += f.goroutines;
    for (std::size_t i = 0; i < kStates; ++i) total.ns[i] += f.ns[i];
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return spent(*a, state::running) > spent(*b, state::running);
  });
  for (std::size_t i = 0; i < std::min(order.size(), kRows); ++i) function_row(*order[i]);
  rest(order.size());
  function_row(total);
  double sum = 0;
  for (const double ns : total.ns) sum += ns;
  std::string unknown;
  if (spent(total, state::unknown) > 0) {
    unknown = ", " + duration_text(spent(total, state::unknown)) + " of them unknown";
  }
  line("  The states add up to " + duration_text(sum) + unknown + "; lifetimes are " +
       duration_text(s_.lifetimes) + ".");
}

void writer::reasons() {
  if (s_.reasons.empty()) return;
  line("\nBlocked, by reason                  count      total       mean        p99    longest");
  std::vector<std::pair<std::uint64_t, const latency*>> order;
  for (const auto& [reason, waits] : s_.reasons) order.emplace_back(reason, &waits);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second->sum() > b.second->sum(); });
  for (std::size_t i = 0; i < std::min(order.size(), kRows); ++i) {
    const latency& w = *order[i].second;
    line("  " + left(reason(order[i].first), 28) + right(count_text(w.count()), 11) +
         right(duration_text(w.sum()), 11) + right(duration_text(w.mean()), 11) +
         right(duration_text(w.percentile(0.99)), 11) + right(duration_text(w.longest()), 11));
  }
  rest(order.size());
}

void writer::places(const char* title, const std::map<std::uint32_t, place_sum>& all,
                    bool with_reason) {
  std::vector<const place_sum*> order;
  for (const auto& [place, sum] : all) order.push_back(&sum);
  if (order.empty()) return;
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->ns > b->ns; });
  line(title);
  for (std::size_t i = 0; i < std::min(order.size(), kRows); ++i) {
    const place_sum& p = *order[i];
    const std::string why =
        with_reason ? left(reason(s_.all.places.reason(p.place)), 20) + "  " : "";
    line("  " + right(duration_text(p.ns), 9) + right(count_text(p.count), 12) +
         right(duration_text(p.longest), 11) + "  " + why +
         shown(short_name(place_name(file_, s_.all, p.place)), with_reason ? 42 : 64));
  }
  rest(order.size());
}

void writer::histogram() {
  std::uint64_t most = 0;
  std::uint64_t first = 0, last = 0;
  for (std::uint64_t from = 64; from < std::uint64_t{1} << 40; from *= 2) {
    const std::uint64_t n = s_.until_run.between(from == 64 ? 0 : from, from * 2);
    most = std::max(most, n);
    if (n != 0 && first == 0) first = from;
    if (n != 0) last = from;
  }
  for (std::uint64_t from = first; from != 0 && from <= last; from *= 2) {
    const std::uint64_t n = s_.until_run.between(from == 64 ? 0 : from, from * 2);
    const auto bar =
        static_cast<std::size_t>(static_cast<double>(n) * 50 / static_cast<double>(most) + 0.5);
    std::string drawn;
    for (std::size_t i = 0; i < bar; ++i) drawn += "█";
    if (bar == 0 && n != 0) drawn = "▏";
    line("  < " + right(duration_text(static_cast<double>(from) * 2), 7) +
         right(count_text(n), 13) + "  " + drawn);
  }
}

void writer::scheduling() {
  const latency& all = s_.until_run;
  if (all.count() == 0) return;
  line("\nScheduling latency: from runnable to running, " + count_text(all.count()) + " times");
  std::string row = "  ";
  for (const auto& [part, name] : {std::pair(0.5, "p50"), std::pair(0.9, "p90"),
                                   std::pair(0.99, "p99"), std::pair(0.999, "p99.9")}) {
    row += std::string(name) + " " + duration_text(all.percentile(part)) + ", ";
  }
  line(row + "longest " + duration_text(all.longest()) + ", mean " + duration_text(all.mean()));
  histogram();
}

void writer::wakes() {
  if (s_.wakes.empty()) return;
  std::vector<std::pair<wake_key, wake_sum>> order(s_.wakes.begin(), s_.wakes.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  line(
      "\nWhat woke whom\n      count     waited  who woke                      woken"
      "                         after");
  for (std::size_t i = 0; i < std::min(order.size(), kRows); ++i) {
    const auto& [key, sum] = order[i];
    line("  " + right(count_text(sum.count), 9) + right(duration_text(sum.waited), 11) + "  " +
         left(function(key.by), 28) + "  " + left(function(key.woken), 28) + "  " +
         shown(reason(key.reason), 16));
  }
  rest(order.size());
}

void writer::ps() {
  if (s_.ps.empty() || s_.all.duration <= 0) return;
  line("\nPs            running   in calls    looking       free");
  const double whole = s_.all.duration;
  const auto part = [&](double ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", std::max(0.0, ns) * 100 / whole);
    return right(text, 11);
  };
  constexpr std::size_t kMost = 64;
  for (std::size_t p = 0; p < std::min(kMost, s_.ps.size()); ++p) {
    const p_sum& sum = s_.ps[p];
    line("  P " + left(std::to_string(p), 6) + part(sum.running) + part(sum.calls) +
         part(sum.held - sum.running - sum.calls) + part(whole - sum.held));
  }
  if (s_.ps.size() > kMost) line("  … and " + count_text(s_.ps.size() - kMost) + " more");
}

void writer::events() {
  line("\nGoroutines: " + count_text(s_.created) + " created, " + count_text(s_.ended) +
       " ended; " + plural(s_.yields, "yield") + ", " + plural(s_.preemptions, "preemption") + ".");
  line("Ps: " + count_text(s_.taken) + " taken, of these " + count_text(s_.taken_from_calls) +
       " from goroutines in calls and " + count_text(s_.evictions) +
       " from running ones (evictions);");
  line("    " + count_text(s_.given_up) + " handed off by their own thread, " +
       plural(s_.requeued, "goroutine") + " came back and found none.");
  if (s_.stops != 0) {
    line("The world was stopped " + plural(s_.stops, "time") + ", for " +
         duration_text(s_.stopped) + " in all.");
  }
}

std::string writer::write() {
  heading();
  functions();
  reasons();
  places(
      "\nPlaces that block most\n      total       count    longest  reason                place",
      s_.places, true);
  places("\nCalls that take longest\n      total       count    longest  place", s_.calls, false);
  scheduling();
  wakes();
  ps();
  events();
  return std::move(out_);
}

}  // namespace

std::string text_of(const trace_file& file, const summary& s) { return writer(file, s).write(); }

}  // namespace vole_trace
