// Profiles for `go tool pprof` and whatever else reads its protobuf:
//
//     block      how often and how long goroutines waited, by where
//     mutex      of these, the waits for mutexes
//     creation   how many goroutines were made, by where
//     sched      how often and how long runnable goroutines lacked a P, by where they had waited
//
// Note   a stack is what the event had, the innermost first, and then the goroutine's function.
#include <protozero/pbf_writer.hpp>

#include <map>
#include <unordered_map>

#include "export/export.h"
#include "trace/history.h"

namespace vole_command {
namespace {

using namespace vole_trace;
using protozero::pbf_writer;

enum profile : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kString = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
};

struct value {
  std::uint64_t count = 0;
  double ns = 0;
};

class adder final : public consumer {
 public:
  adder(const trace_file& file, const std::string& which) : file_(file), which_(which) {}
  std::string write();

  void on(const span& x) override;

 private:
  void add(std::uint32_t place, std::uint32_t fn, double ns) {
    value& v = values_[{place, fn}];
    ++v.count;
    v.ns += ns;
  }
  std::int64_t text(const std::string& s);
  std::uint64_t function(const std::string& name, std::string_view file);
  std::uint64_t location(std::uint64_t pc);
  std::vector<std::uint64_t> stack(std::uint32_t place, std::uint32_t fn);
  void write_type(pbf_writer& out, const char* type, const char* unit);
  void write_sample(pbf_writer& out, const std::vector<std::uint64_t>& at, const value& v) const;
  bool creation() const { return which_ == "creation"; }

  const trace_file& file_;
  const std::string which_;
  history all_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, value> values_;  // place, function
  std::vector<std::uint32_t> waited_at_;                             // by goroutine
  std::vector<std::string> strings_{""};
  std::unordered_map<std::string, std::int64_t> string_index_{{"", 0}};
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
  std::unordered_map<std::uint64_t, std::uint64_t> locations_;
  std::string tables_;  // functions and locations
};

void adder::on(const span& x) {
  const goroutine& g = all_.goroutines[x.g];
  const double ns = x.to - x.from;
  if (creation()) {
    if (x.why == cause::create) add(g.site, 0, 0);
    return;
  }
  if (x.g >= waited_at_.size()) waited_at_.resize(all_.goroutines.size());
  if (x.what == state::waiting) {
    waited_at_[x.g] = x.place;
    const std::string reason = reason_of(file_, all_.places.reason(x.place));
    const bool wanted =
        which_ == "block" || (which_ == "mutex" && reason.find("mutex") != std::string::npos);
    if (wanted) add(x.place, g.fn, ns);
  }
  if (which_ == "sched" && x.what == state::runnable && x.end == cause::run) {
    add(waited_at_[x.g], g.fn, ns);
  }
}

std::int64_t adder::text(const std::string& s) {
  const auto [found, is_new] = string_index_.emplace(s, static_cast<std::int64_t>(strings_.size()));
  if (is_new) strings_.push_back(s);
  return found->second;
}

std::uint64_t adder::function(const std::string& name, std::string_view file) {
  const auto [found, is_new] =
      functions_.emplace(std::pair(name, std::string(file)), functions_.size() + 1);
  if (is_new) {
    pbf_writer out(tables_);
    pbf_writer f(out, kFunction);
    f.add_uint64(1, found->second);
    f.add_int64(2, text(name));
    f.add_int64(3, text(name));
    f.add_int64(4, text(std::string(file)));
  }
  return found->second;
}

std::uint64_t adder::location(std::uint64_t pc) {
  const auto [found, is_new] = locations_.emplace(pc, locations_.size() + 1);
  if (!is_new) return found->second;
  std::string packed;
  {
    pbf_writer out(packed);
    out.add_uint64(1, found->second);
    out.add_uint64(3, pc);
    const auto line = [&](std::uint64_t id, std::uint64_t number) {
      pbf_writer l(out, 4);
      l.add_uint64(1, id);
      l.add_int64(2, static_cast<std::int64_t>(number));
    };
    const auto known = file_.symbols.find(pc);
    if (known == file_.symbols.end() || known->second.empty()) {
      line(function(name_of_pc(file_, pc), ""), 0);
    } else {
      for (const frame& f : known->second) line(function(std::string(f.function), f.file), f.line);
    }
  }
  pbf_writer(tables_).add_message(kLocation, packed);
  return found->second;
}

std::vector<std::uint64_t> adder::stack(std::uint32_t place, std::uint32_t fn) {
  std::vector<std::uint64_t> at;
  for (const std::uint64_t pc : all_.places.pcs(place)) at.push_back(location(pc));
  const auto& begin = all_.places.pcs(fn);
  const std::string outermost =
      all_.places.pcs(place).empty() ? "" : name_of_pc(file_, all_.places.pcs(place).back());
  if (!begin.empty() && name_of_pc(file_, begin.front()) != outermost) {
    at.push_back(location(begin.front()));
  }
  if (at.empty()) at.push_back(location(0));
  return at;
}

void adder::write_type(pbf_writer& out, const char* type, const char* unit) {
  pbf_writer t(out, kSampleType);
  t.add_int64(1, text(type));
  t.add_int64(2, text(unit));
}

void adder::write_sample(pbf_writer& out, const std::vector<std::uint64_t>& at,
                         const value& v) const {
  pbf_writer s(out, kSample);
  s.add_packed_uint64(1, at.begin(), at.end());
  std::vector<std::int64_t> numbers = {static_cast<std::int64_t>(v.count)};
  if (!creation()) numbers.push_back(static_cast<std::int64_t>(v.ns));
  s.add_packed_int64(2, numbers.begin(), numbers.end());
}

std::string adder::write() {
  tell(file_, all_, *this);
  std::string packed;
  pbf_writer out(packed);
  write_type(out, creation() ? "goroutines" : "contentions", "count");
  if (!creation()) write_type(out, "delay", "nanoseconds");
  for (const auto& [key, v] : values_) write_sample(out, stack(key.first, key.second), v);
  packed += tables_;
  for (const std::string& s : strings_) out.add_string(kString, s);
  out.add_int64(kTimeNanos, static_cast<std::int64_t>(all_.wall));
  out.add_int64(kDurationNanos, static_cast<std::int64_t>(all_.duration));
  return packed;
}

}  // namespace

std::string pprof_of(const trace_file& file, const std::string& profile) {
  return adder(file, profile).write();
}

}  // namespace vole_command
