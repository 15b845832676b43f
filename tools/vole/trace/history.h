// What happened in a trace from its begin to its end: generations joined, told as spans. A span is
// a stretch of time that a goroutine spends in one state.
//
// Who    summary.cc, the exports.
// Law    a goroutine's spans follow one another without gap or overlap, from its birth or first
//        mention to its end or the trace's. Spans are told when they end, in order of that.
// Note   generations that cannot be read are left out; what goroutines did meanwhile is
//        `state::unknown`. A generation is checked before anything of it is told.
// Proof  reader_test.cc
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/order.h"

namespace vole_trace {

struct span {
  std::uint32_t g = kNobody;  // number in history::goroutines, as `by` and `ended_by`
  state what = state::unknown;
  cause why = cause::begin;  // how it came into it
  cause end = cause::begin;  // how it came out of it; begin: by the trace's or a generation's end
  double from = 0, to = 0;   // ns since the trace's begin
  std::uint32_t thread = kNobody;  // number, as the format has it
  std::uint32_t p = kNobody;
  std::uint32_t place = 0;           // where it waits or calls
  std::uint32_t by = kNobody;        // who created or unblocked it, if that began the span
  std::uint32_t ended_by = kNobody;  // who unblocked it, if that ended the span
  std::uint32_t ended_on = kNobody;  // the thread on which it ended
};

struct p_span {  // a thread has a P
  std::uint32_t p, thread;
  double from, to;
  bool stolen;  // that ended it
};

struct goroutine {
  std::uint64_t id = 0, parent = 0;
  std::uint32_t fn = 0, site = 0;  // places
  std::string_view name;
  bool born = false;         // within the trace
  std::uint64_t waited = 0;  // ns that it had waited when it was first listed
  span now;
  std::uint32_t seen = 0;  // generation
  bool alive = false;
};

struct gap {
  double from, to;
  std::string why;
};

class consumer {
 public:
  virtual ~consumer() = default;
  virtual void on(const span&) {}
  virtual void on(const p_span&) {}
  // Threads and goroutines in it are numbers as in a span.
  virtual void on(const remark&) {}
};

struct history {
  std::vector<goroutine> goroutines;
  place_table places;
  std::vector<gap> gaps;
  std::vector<std::string> problems;  // what could not be read, as sentences
  double duration = 0;                // ns
  std::uint64_t events = 0;
  std::uint64_t generations = 0;
  std::uint64_t lost = 0;
  std::uint64_t pid = 0;
  std::uint64_t wall = 0;  // ns since 1970 at time 0
  std::uint64_t mono = 0;  // ns of the monotonic clock at time 0
  std::uint32_t ps = 0;
};

// Tells all of it. `all` may be looked at meanwhile: goroutines of which something is told are in
// it. Throws damaged, a sentence, if nothing can be read.
void tell(const trace_file& file, history& all, consumer& to);

// The name of the function that a goroutine runs or of a place's innermost frame that is not one
// of vole's own; "(not known)".
std::string name_of_pc(const trace_file& file, std::uint64_t pc);
std::string function_of(const trace_file& file, const history& h, std::uint32_t fn_place);
std::string reason_of(const trace_file& file, std::uint64_t reason);

}  // namespace vole_trace
