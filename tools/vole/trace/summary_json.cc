// A summary for programs. Times are in nanoseconds.
#include "trace/summary.h"
#include "trace/words.h"

namespace vole_trace {
namespace {

constexpr const char* kStateNames[kStates] = {"runnable", "running",   "waiting", "call",
                                              "evicted",  "preempted", "unknown"};

// Objects and lists with commas between what is in them.
class json {
 public:
  json& key(const char* name) {
    comma();
    out_ += json_string(name) + ":";
    fresh_ = true;
    return *this;
  }
  json& text(std::string_view x) { return raw(json_string(x)); }
  json& number(double x) { return raw(json_number(x)); }
  json& number(std::uint64_t x) { return raw(std::to_string(x)); }
  json& open(char bracket) {
    raw(std::string(1, bracket));
    fresh_ = true;
    return *this;
  }
  json& close(char bracket) {
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  std::string take() { return std::move(out_); }

 private:
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  json& raw(const std::string& x) {
    comma();
    out_ += x;
    return *this;
  }
  std::string out_;
  bool fresh_ = true;
};

void add_latency(json& j, const latency& l) {
  j.open('{').key("count").number(l.count()).key("mean").number(l.mean());
  j.key("p50").number(l.percentile(0.5)).key("p90").number(l.percentile(0.9));
  j.key("p99").number(l.percentile(0.99)).key("p999").number(l.percentile(0.999));
  j.key("longest").number(l.longest());
  j.key("histogram").open('[');
  for (std::uint64_t from = 1; from < std::uint64_t{1} << 62; from *= 2) {
    const std::uint64_t n = l.between(from == 1 ? 0 : from, from * 2);
    if (n == 0) continue;
    j.open('{').key("below").number(from * 2).key("count").number(n).close('}');
  }
  j.close(']').close('}');
}

class writer {
 public:
  writer(const trace_file& file, const summary& s) : file_(file), s_(s) {}
  std::string write();

 private:
  void head();
  void functions();
  void reasons();
  void places(const char* name, const std::map<std::uint32_t, place_sum>& all);
  void wakes();
  void ps();
  void counts();
  std::string function(std::uint32_t f) const {
    if (f == kByScheduler) return "(a timer or the network)";
    if (f == kByOutside) return "(sysmon or a plain thread)";
    return s_.functions[f].name;
  }

  const trace_file& file_;
  const summary& s_;
  json j_;
};

void writer::head() {
  const history& h = s_.all;
  j_.key("pid").number(h.pid).key("duration").number(h.duration);
  j_.key("wall").number(h.wall).key("events").number(h.events);
  j_.key("generations").number(h.generations).key("lost").number(h.lost);
  j_.key("goroutines").number(std::uint64_t{h.goroutines.size()});
  j_.key("problems").open('[');
  for (const std::string& problem : h.problems) j_.text(problem);
  j_.close(']').key("gaps").open('[');
  for (const gap& g : h.gaps) {
    j_.open('{').key("from").number(g.from).key("to").number(g.to).key("why").text(g.why);
    j_.close('}');
  }
  j_.close(']').key("lifetimes").number(s_.lifetimes);
}

void writer::functions() {
  j_.key("functions").open('[');
  for (const function_sum& f : s_.functions) {
    j_.open('{').key("name").text(f.name).key("goroutines").number(f.goroutines);
    j_.key("states").open('{');
    for (std::size_t i = 0; i < kStates; ++i) j_.key(kStateNames[i]).number(f.ns[i]);
    j_.close('}').key("blocked").open('{');
    for (const auto& [reason, ns] : f.waited) {
      j_.key(reason_of(file_, reason).c_str()).number(ns);
    }
    j_.close('}').key("latency");
    add_latency(j_, f.until_run);
    j_.close('}');
  }
  j_.close(']');
}

void writer::reasons() {
  j_.key("reasons").open('[');
  for (const auto& [reason, waits] : s_.reasons) {
    j_.open('{').key("name").text(reason_of(file_, reason)).key("total").number(waits.sum());
    j_.key("waits");
    add_latency(j_, waits);
    j_.close('}');
  }
  j_.close(']');
}

void writer::places(const char* name, const std::map<std::uint32_t, place_sum>& all) {
  j_.key(name).open('[');
  for (const auto& [place, sum] : all) {
    j_.open('{').key("place").text(place_name(file_, s_.all, place));
    j_.key("reason").text(reason_of(file_, s_.all.places.reason(place)));
    j_.key("count").number(sum.count).key("total").number(sum.ns);
    j_.key("longest").number(sum.longest).close('}');
  }
  j_.close(']');
}

void writer::wakes() {
  j_.key("wakes").open('[');
  for (const auto& [key, sum] : s_.wakes) {
    j_.open('{').key("by").text(function(key.by)).key("woken").text(function(key.woken));
    j_.key("reason").text(reason_of(file_, key.reason)).key("count").number(sum.count);
    j_.key("waited").number(sum.waited).close('}');
  }
  j_.close(']');
}

void writer::ps() {
  j_.key("ps").open('[');
  for (const p_sum& p : s_.ps) {
    j_.open('{').key("running").number(p.running).key("calls").number(p.calls);
    j_.key("held").number(p.held).close('}');
  }
  j_.close(']');
}

void writer::counts() {
  j_.key("created").number(s_.created).key("ended").number(s_.ended);
  j_.key("yields").number(s_.yields).key("preemptions").number(s_.preemptions);
  j_.key("ps_taken").number(s_.taken).key("ps_taken_from_calls").number(s_.taken_from_calls);
  j_.key("evictions").number(s_.evictions).key("ps_handed_off").number(s_.given_up);
  j_.key("requeued").number(s_.requeued);
  j_.key("stops").number(s_.stops).key("stopped").number(s_.stopped);
}

std::string writer::write() {
  j_.open('{');
  head();
  functions();
  j_.key("latency");
  add_latency(j_, s_.until_run);
  reasons();
  places("places", s_.places);
  places("calls", s_.calls);
  wakes();
  ps();
  counts();
  j_.close('}');
  return j_.take() + "\n";
}

}  // namespace

std::string json_of(const trace_file& file, const summary& s) { return writer(file, s).write(); }

}  // namespace vole_trace
