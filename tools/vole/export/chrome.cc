// Chrome's trace events, as JSON: https://ui.perfetto.dev and chrome://tracing open them. Process 1
// has a row for each P, process 2 one for each goroutine; arrows go from who woke to who was woken.
#include <cstdio>

#include "export/export.h"
#include "export/labels.h"
#include "trace/summary.h"
#include "trace/words.h"

namespace vole_command {
namespace {

using namespace vole_trace;

constexpr int kPs = 1, kGoroutines = 2;

class writer final : public consumer {
 public:
  explicit writer(const trace_file& file) : file_(file) {}

  std::string write() {
    tell(file_, all_, *this);
    for (std::uint32_t p = 0; p < all_.ps; ++p) name_row(kPs, p, "P " + std::to_string(p));
    for (std::uint32_t g = 0; g < all_.goroutines.size(); ++g) {
      name_row(kGoroutines, g, label_of(file_, all_, all_.goroutines[g]));
    }
    name_process(kPs, "Ps");
    name_process(kGoroutines, "goroutines");
    return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + events_ + "\n]}\n";
  }

  void on(const span& x) override {
    const bool on_p = x.p != kNobody && (x.what == state::running || x.what == state::call);
    if (on_p) {
      slice(kPs, x.p, x, function_of(file_, all_, all_.goroutines[x.g].fn),
            "\"goroutine\":" + std::to_string(all_.goroutines[x.g].id));
    }
    std::string more;
    if (x.place != 0) more = "\"place\":" + json_string(place_name(file_, all_, x.place));
    slice(kGoroutines, x.g, x, label_of(file_, all_, x), more);
    if (x.what == state::waiting && x.end == cause::unblock && x.ended_by != kNobody) {
      arrow(x.ended_by, x.g, x.to);
    }
  }

  void on(const remark& r) override {
    if (r.type == kRegionBegin || r.type == kRegionEnd) return region(r);
    if (r.type != kLog && r.type != kStopBegin) return;
    const bool log = r.type == kLog;
    begin_event("i", log && r.g != kNobody ? kGoroutines : kPs, r.g == kNobody ? 0 : r.g, r.time);
    events_ += ",\"s\":\"" + std::string(log ? "t" : "g") + "\",\"name\":" +
               json_string(log ? r.name : "stop the world: " + std::string(r.name));
    if (log) events_ += ",\"args\":{\"text\":" + json_string(r.text) + "}";
    events_ += "}";
  }

 private:
  // Regions nest; one that began before the trace has no begin here and needs no end.
  void region(const remark& r) {
    if (r.g == kNobody) return;
    if (r.g >= depth_.size()) depth_.resize(all_.goroutines.size());
    const bool begins = r.type == kRegionBegin;
    if (!begins && depth_[r.g] == 0) return;
    depth_[r.g] += begins ? 1 : -1;
    begin_event(begins ? "B" : "E", kGoroutines, r.g, r.time);
    if (begins) events_ += ",\"cat\":\"region\",\"name\":" + json_string(r.name);
    events_ += "}";
  }

  void begin_event(const char* phase, int process, std::uint32_t row, double ns) {
    events_ += events_.empty() ? "\n" : ",\n";
    events_ += std::string("{\"ph\":\"") + phase + "\",\"pid\":" + std::to_string(process) +
               ",\"tid\":" + std::to_string(row) + ",\"ts\":" + json_number(ns / 1000);
  }

  void slice(int process, std::uint32_t row, const span& x, const std::string& name,
             const std::string& more) {
    begin_event("X", process, row, x.from);
    events_ += ",\"dur\":" + json_number((x.to - x.from) / 1000) +
               ",\"name\":" + json_string(name) + ",\"args\":{" + more + "}}";
  }

  void arrow(std::uint32_t from, std::uint32_t to, double ns) {
    const std::string id = std::to_string(++arrows_);
    begin_event("s", kGoroutines, from, ns);
    events_ += ",\"cat\":\"wake\",\"name\":\"wakes\",\"id\":" + id + "}";
    begin_event("f", kGoroutines, to, ns);
    events_ += ",\"cat\":\"wake\",\"name\":\"wakes\",\"bp\":\"e\",\"id\":" + id + "}";
  }

  void name_row(int process, std::uint32_t row, const std::string& name) {
    begin_event("M", process, row, 0);
    events_ += ",\"name\":\"thread_name\",\"args\":{\"name\":" + json_string(name) + "}}";
  }
  void name_process(int process, const char* name) {
    begin_event("M", process, 0, 0);
    events_ += ",\"name\":\"process_name\",\"args\":{\"name\":" + json_string(name) + "}}";
  }

  const trace_file& file_;
  history all_;
  std::string events_;
  std::uint64_t arrows_ = 0;
  std::vector<int> depth_;  // of regions, by goroutine
};

}  // namespace

std::string chrome_of(const trace_file& file) { return writer(file).write(); }

}  // namespace vole_command
