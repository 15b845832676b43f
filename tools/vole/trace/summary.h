// A trace in numbers: by function, by reason, by place, by who woke whom, by P.
//
// Law    the times of all states add up to the lifetimes.
// Proof  reader_test.cc, tests/tools/trace_check_test.py
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/history.h"
#include "trace/latency.h"

namespace vole_trace {

struct function_sum {
  std::string name;
  std::uint64_t goroutines = 0;
  std::array<double, kStates> ns{};
  std::map<std::uint64_t, double> waited;  // by reason
  std::map<std::uint32_t, double> at;      // the same, by place
  latency until_run;
};

struct place_sum {
  std::uint32_t place = 0;
  std::uint64_t count = 0;
  double ns = 0, longest = 0;
};

struct wake_sum {
  std::uint64_t count = 0;
  double waited = 0;
};
// The waker: a function, or one of these.
inline constexpr std::uint32_t kByScheduler =
    0xfffffffeU;  // a thread without a goroutine: timers, network
inline constexpr std::uint32_t kByOutside = 0xfffffffdU;  // sysmon or a plain thread
struct wake_key {
  std::uint32_t by, woken;  // functions
  std::uint64_t reason;
  auto operator<=>(const wake_key&) const = default;
};

struct p_sum {
  double running = 0, calls = 0, held = 0;
};

struct summary {
  history all;
  std::vector<function_sum> functions;
  std::map<std::uint64_t, latency> reasons;  // how long waits were
  std::map<std::uint32_t, place_sum> places, calls;
  std::map<wake_key, wake_sum> wakes;
  std::vector<p_sum> ps;
  latency until_run;
  double lifetimes = 0;
  std::uint64_t taken = 0, taken_from_calls = 0, evictions = 0, given_up = 0, requeued = 0;
  std::uint64_t yields = 0, preemptions = 0, created = 0, ended = 0;
  std::uint64_t stops = 0;
  double stopped = 0;
};

summary summarise(const trace_file& file);  // throws damaged if nothing can be read

std::string text_of(const trace_file& file, const summary& s);
std::string json_of(const trace_file& file, const summary& s);

// The frame of a place that says most: the innermost that is not in vole itself.
std::string place_name(const trace_file& file, const history& h, std::uint32_t place);

}  // namespace vole_trace
