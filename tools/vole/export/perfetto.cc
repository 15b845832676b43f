// Perfetto's protobuf. Ps are CPUs and goroutines threads, told as the kernel's scheduler would tell
// them (sched_switch, sched_waking), so that Perfetto draws rows, states and wake-ups by itself. Why
// a goroutine waits, its calls and evictions, and the program's regions and logs are slices.
//
// Note   Perfetto's numbers of threads have 32 bits: a goroutine's is the process's, plus one, plus
//        the order in which it appears. Its name has its id.
#include <protozero/pbf_writer.hpp>

#include <algorithm>

#include "export/export.h"
#include "export/labels.h"
#include "trace/summary.h"

namespace vole_command {
namespace {

using namespace vole_trace;
using protozero::pbf_writer;

// Field numbers of Perfetto's protos.
enum packet : std::uint32_t {
  kFtraceEvents = 1,
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum bundle : std::uint32_t { kCpu = 1, kEvent = 2 };
enum ftrace : std::uint32_t { kTime = 1, kPid = 2, kSwitch = 4, kWaking = 20 };
enum track_event : std::uint32_t {
  kAnnotation = 4,
  kType = 9,
  kTrackOf = 11,
  kCategory = 22,
  kName = 23,
};
enum slice_type : std::int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };
// A thread's state after it was switched away from, as Linux has it.
enum left_state : std::int64_t { kStillReady = 0, kSleeping = 1, kUninterruptible = 2, kDead = 16 };

constexpr std::size_t kBatch = 4096;

struct cpu_event {
  std::uint64_t time;
  std::int32_t from, to;  // a switch; a wake-up: who woke, who was woken
  std::int64_t left;      // negative: a wake-up
};

struct cpu_slice {  // a goroutine has a P
  std::uint32_t g = kNobody;
  std::uint64_t from = 0, to = 0;
  cause end = cause::begin;
};

class writer final : public consumer {
 public:
  explicit writer(const trace_file& file) : file_(file) {}

  std::string write() {
    tell(file_, all_, *this);
    for (std::uint32_t p = 0; p < cpus_.size(); ++p) {
      finish_slice(p);
      if (switched_to_[p] != 0) switch_at(p, last_switch_[p], kNobody, kStillReady);
      flush(p, ~std::uint64_t{0});
    }
    std::string out = descriptors();
    return out += body_;
  }

  void on(const span& x) override;
  void on(const remark& r) override;

 private:
  std::uint64_t stamp(double ns) const {
    return all_.mono + static_cast<std::uint64_t>(ns < 0 ? 0 : ns);
  }
  std::int32_t thread_of(std::uint32_t g) const {
    return g == kNobody ? 0 : static_cast<std::int32_t>((all_.pid + 1 + g) & 0x7fffffff);
  }
  static std::uint64_t track_of(std::uint32_t g) { return std::uint64_t{2} * g + 10; }

  void need_cpu(std::uint32_t p) {
    if (p < cpus_.size()) return;
    cpus_.resize(p + 1);
    open_.resize(p + 1);
    switched_to_.resize(p + 1);
    left_.resize(p + 1);
    last_switch_.resize(p + 1);
  }
  void occupy(const span& x);
  void finish_slice(std::uint32_t p);
  void switch_at(std::uint32_t p, std::uint64_t time, std::uint32_t to, std::int64_t left);
  void wake(const span& x);
  void flush(std::uint32_t p, std::uint64_t up_to);

  void slice_event(slice_type type, std::uint64_t track, std::uint64_t time,
                   const std::string& name, const char* category, const std::string& place);
  std::string descriptors() const;
  void add_packet(std::string& out, const std::string& packet) const {
    pbf_writer(out).add_message(1, packet);
  }

  const trace_file& file_;
  history all_;
  std::string body_;
  std::vector<std::vector<cpu_event>> cpus_;  // not written yet
  std::vector<cpu_slice> open_;               // the last one, which may be continued
  std::vector<std::int32_t> switched_to_;     // thread that the CPU runs; 0: none
  std::vector<std::int64_t> left_;            // how that one will leave it
  std::vector<std::uint64_t> last_switch_;
  std::vector<int> depth_;  // of regions, by goroutine
  std::vector<bool> has_regions_;
};

void writer::on(const span& x) {
  if (x.p != kNobody && (x.what == state::running || x.what == state::call)) occupy(x);
  if (x.what == state::waiting && x.end == cause::unblock) wake(x);
  if (x.what != state::waiting && x.what != state::call && x.what != state::evicted) return;
  const std::string name = label_of(file_, all_, x);
  const std::string place = x.place == 0 ? "" : place_name(file_, all_, x.place);
  slice_event(kSliceBegin, track_of(x.g), stamp(x.from), name, "state", place);
  slice_event(kSliceEnd, track_of(x.g), stamp(x.to), "", "", "");
}

void writer::occupy(const span& x) {
  need_cpu(x.p);
  cpu_slice& last = open_[x.p];
  const std::uint64_t from = stamp(x.from), to = stamp(x.to);
  if (last.g == x.g && last.to == from) {
    last.to = to;
    last.end = x.end;
    return;
  }
  finish_slice(x.p);
  open_[x.p] = {x.g, from, to, x.end};
}

std::int64_t left_by(cause end) {
  switch (end) {
    case cause::block: return kSleeping;
    case cause::end: return kDead;
    case cause::stolen:
    case cause::gave_p: return kUninterruptible;
    default: return kStillReady;
  }
}

void writer::finish_slice(std::uint32_t p) {
  cpu_slice& s = open_[p];
  if (s.g == kNobody) return;
  // Between two slices that do not touch the CPU is idle.
  if (switched_to_[p] != 0 && last_switch_[p] != s.from) {
    switch_at(p, last_switch_[p], kNobody, left_[p]);
  }
  switch_at(p, s.from, s.g, left_[p]);
  left_[p] = left_by(s.end);
  last_switch_[p] = s.to;
  s = {};
  if (cpus_[p].size() >= kBatch) flush(p, cpus_[p].back().time);
}

void writer::switch_at(std::uint32_t p, std::uint64_t time, std::uint32_t to, std::int64_t left) {
  const std::int32_t next = thread_of(to);
  if (next == 0 && switched_to_[p] == 0) return;
  cpus_[p].push_back({time, switched_to_[p], next, switched_to_[p] == 0 ? 0 : left});
  switched_to_[p] = next;
}

void writer::wake(const span& x) {
  std::uint32_t p = 0;
  if (x.ended_by != kNobody && all_.goroutines[x.ended_by].now.p != kNobody) {
    p = all_.goroutines[x.ended_by].now.p;
  }
  need_cpu(p);
  cpus_[p].push_back({stamp(x.to), thread_of(x.ended_by), thread_of(x.g), -1});
}

void writer::flush(std::uint32_t p, std::uint64_t up_to) {
  std::vector<cpu_event>& events = cpus_[p];
  std::stable_sort(events.begin(), events.end(),
                   [](const cpu_event& a, const cpu_event& b) { return a.time < b.time; });
  std::string packed;
  pbf_writer out(packed);
  out.add_uint32(kCpu, p);
  std::size_t n = 0;
  for (; n < events.size() && events[n].time <= up_to; ++n) {
    const cpu_event& e = events[n];
    pbf_writer event(out, kEvent);
    event.add_uint64(kTime, e.time);
    event.add_uint32(kPid, static_cast<std::uint32_t>(e.from));
    if (e.left < 0) {
      pbf_writer waking(event, kWaking);
      waking.add_int32(2, e.to);
      waking.add_int32(3, 120);
      waking.add_int32(4, 1);
      waking.add_int32(5, static_cast<std::int32_t>(p));
    } else {
      pbf_writer change(event, kSwitch);
      change.add_int32(2, e.from);
      change.add_int32(3, 120);
      change.add_int64(4, e.left);
      change.add_int32(6, e.to);
      change.add_int32(7, 120);
    }
  }
  if (n == 0) return;
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(n));
  std::string packet;
  pbf_writer(packet).add_message(kFtraceEvents, packed);
  add_packet(body_, packet);
}

void writer::slice_event(slice_type type, std::uint64_t track, std::uint64_t time,
                         const std::string& name, const char* category, const std::string& place) {
  std::string packet;
  {
    pbf_writer out(packet);
    out.add_uint64(kTimestamp, time);
    out.add_uint32(kSequence, 1);
    pbf_writer event(out, kTrackEvent);
    event.add_enum(kType, type);
    event.add_uint64(kTrackOf, track);
    if (type != kSliceEnd) {
      event.add_string(kCategory, category);
      event.add_string(kName, name);
    }
    if (!place.empty()) {
      pbf_writer note(event, kAnnotation);
      note.add_string(10, "place");
      note.add_string(6, place);
    }
  }
  add_packet(body_, packet);
}

void writer::on(const remark& r) {
  if (r.type == kLog) {
    const std::uint64_t track = r.g == kNobody ? 1 : track_of(r.g);
    return slice_event(kInstant, track, stamp(r.time), std::string(r.name), "log",
                       std::string(r.text));
  }
  if (r.type == kStopBegin) {
    return slice_event(kInstant, 1, stamp(r.time), "stop the world: " + std::string(r.name), "stop",
                       "");
  }
  if (r.g == kNobody || (r.type != kRegionBegin && r.type != kRegionEnd)) return;
  if (r.g >= depth_.size()) {
    depth_.resize(all_.goroutines.size());
    has_regions_.resize(all_.goroutines.size());
  }
  has_regions_[r.g] = true;
  const bool begins = r.type == kRegionBegin;
  if (!begins && depth_[r.g] == 0) return;  // it began before the trace
  depth_[r.g] += begins ? 1 : -1;
  slice_event(begins ? kSliceBegin : kSliceEnd, track_of(r.g) + 1, stamp(r.time),
              std::string(r.name), "region", "");
}

std::string writer::descriptors() const {
  std::string out;
  const auto add = [&](auto fill) {
    std::string packet;
    {
      pbf_writer to(packet);
      to.add_uint32(kSequence, 1);
      if (out.empty()) to.add_uint32(kSequenceFlags, 1);
      pbf_writer track(to, kTrackDescriptor);
      fill(track);
    }
    add_packet(out, packet);
  };
  const auto pid = static_cast<std::int32_t>(all_.pid & 0x7fffffff);
  add([&](pbf_writer& track) {
    track.add_uint64(1, 1);
    pbf_writer process(track, 3);
    process.add_int32(1, pid);
    process.add_string(6, "goroutines of process " + std::to_string(all_.pid));
  });
  for (std::uint32_t g = 0; g < all_.goroutines.size(); ++g) {
    add([&](pbf_writer& track) {
      track.add_uint64(1, track_of(g));
      pbf_writer thread(track, 4);
      thread.add_int32(1, pid);
      thread.add_int32(2, thread_of(g));
      thread.add_string(5, label_of(file_, all_, all_.goroutines[g]));
    });
    if (g >= has_regions_.size() || !has_regions_[g]) continue;
    add([&](pbf_writer& track) {
      track.add_uint64(1, track_of(g) + 1);
      track.add_string(2, "regions");
      track.add_uint64(5, track_of(g));
    });
  }
  return out;
}

}  // namespace

std::string perfetto_of(const trace_file& file) { return writer(file).write(); }

}  // namespace vole_command
