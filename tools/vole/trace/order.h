// A generation's events in one order, by sequence numbers: the format page's "Order".
//
// Who    check.cc without a listener; history.cc with one.
// Law    every rule of that page holds for what is told, or `damaged` is thrown. Of the events that
//        may come, the earliest comes first. Times never go back: an event whose clock says less
//        than the one before it gets that one's time.
// Note   a thread whose next event may not come yet is parked under what it waits for: a
//        goroutine, a P, another thread's progress, or the loss of its own P. What an event
//        changes wakes those who wait for it.
// Proof  reader_test.cc
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/scan.h"

namespace vole_trace {

enum class cause : std::uint8_t {
  begin,  // it was so when the generation began
  create,
  unblock,
  run,
  block,
  yield,
  preempt,
  requeue,
  call_begin,
  call_end,
  stolen,  // its P was taken
  got_p,
  gave_p,
  end,
};

// A goroutine is in another state from now on. Numbers are those of the scan.
struct change {
  double time = 0;  // ns since the generation's begin
  std::uint32_t g = kNobody;
  state to = state::unknown;
  cause why = cause::begin;
  std::uint32_t thread = kNobody;  // on which this happened
  std::uint32_t p = kNobody;       // that thread's
  std::uint32_t place = 0;         // where it waits, or calls
  std::uint32_t by = kNobody;      // the goroutine that created or unblocked it
};

// A P has another holder from now on.
struct p_change {
  double time = 0;
  std::uint32_t p = kNobody;
  std::uint32_t thread = kNobody;  // kNobody: it is free
  bool stolen = false;
  std::uint32_t from = kNobody;  // the thread that had it
};

// What the program or the runtime says beyond goroutines and Ps: types 5, 40, 41 and 50 to 54.
struct remark {
  double time = 0;
  std::uint8_t type = 0;
  std::uint32_t thread = kNobody;
  std::uint32_t g = kNobody;
  std::uint64_t task = 0, parent = 0;
  std::string_view name, text;
};

class listener {
 public:
  virtual ~listener() = default;
  virtual void on(const change&) = 0;
  virtual void on(const p_change&) = 0;
  virtual void on(const remark&) = 0;
};

// How ticks become nanoseconds. Throws damaged if they cannot.
struct clock_scale {
  explicit clock_scale(const generation& g);
  double at(std::uint64_t ticks) const {
    return static_cast<double>(static_cast<std::int64_t>(ticks - origin)) * scale;
  }
  std::uint64_t origin;
  double scale;
};

// Tells `to` (which may be nullptr) what happens, in order. Returns the time of the last event.
double put_in_order(const scan& s, listener* to);

}  // namespace vole_trace
