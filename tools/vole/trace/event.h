// Events, decoded one after the other from the chunks of a thread.
//
// Who    scan.cc, which sees them first, and order.cc, which puts them in order.
// Law    `next` checks what one event can say of itself: its type, its numbers, that the chunk has
//        as many as its header says. What they mean together is for the others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/bytes.h"
#include "trace/file.h"

namespace vole_trace {

enum event_type : std::uint8_t {
  kDefSite = 1,
  kDefString = 2,
  kThreadFirst = 3,
  kGFirst = 4,
  kGName = 5,
  kProcStart = 6,
  kProcStop = 7,
  kProcSteal = 8,
  kGCreate = 9,
  kGUnblock = 10,
  kGRun = 11,
  kGBlock = 12,
  kGYield = 13,
  kGPreempt = 14,
  kGEnd = 15,
  kGRequeue = 16,
  kBlockRun = 20,
  kYieldRun = 21,
  kPreemptRun = 22,
  kEndRun = 23,
  kBlockWoken = 24,
  kYieldWoken = 25,
  kEndWoken = 27,
  kCallBegin = 30,
  kCallEnd = 31,
  kStopBegin = 40,
  kStopEnd = 41,
  kRegionBegin = 50,
  kRegionEnd = 51,
  kTaskBegin = 52,
  kTaskEnd = 53,
  kLog = 54,
};

// Which fields mean something depends on the type; the others are left as they were.
struct event {
  std::uint8_t type = 0;
  std::uint64_t ticks = 0;
  std::uint64_t g = 0;  // id; for "run woken" that of the last g_unblock
  std::uint64_t seq = 0;
  std::uint64_t site = 0;  // place, also where a goroutine was created; its number in the thread
  std::uint64_t fn = 0;    // place
  std::uint64_t name = 0;  // string
  std::uint64_t p = 0;     // P; thread_first: P + 1
  std::uint64_t acquisition = 0;
  std::uint64_t thread = 0;                         // proc_steal
  std::uint64_t events = 0;                         // proc_steal
  std::uint64_t state = 0, reason = 0, parent = 0;  // g_first; thread_first has its flags in state
  std::uint64_t task = 0;
  std::string_view text;
  std::vector<std::uint64_t> pcs;
};

class event_reader {
 public:
  event_reader() = default;
  event_reader(bytes content, const std::vector<chunk>* chunks)
      : content_(content), chunks_(chunks) {}

  bool next(event& out);  // false: there are no more

  std::uint64_t taken() const { return taken_; }          // events so far, this one included
  std::uint64_t position() const { return position_; }    // of the last one, in the file
  std::uint64_t after() const { return at_.position(); }  // of the byte that follows it

 private:
  void open_chunk();
  void arguments(event& out);
  void rare_arguments(event& out);
  std::uint64_t goroutine();
  std::uint64_t some_goroutine();
  std::uint64_t sequence();
  void woken(event& out) const;

  bytes content_;
  const std::vector<chunk>* chunks_ = nullptr;
  std::size_t next_chunk_ = 0;
  std::uint32_t left_ = 0;  // events, in this chunk
  cursor at_;
  std::uint64_t position_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t ticks_ = 0;
  std::uint64_t last_g_ = 0, last_seq_ = 0;
  std::uint64_t woken_g_ = 0, woken_seq_ = 0;  // of the last g_unblock in this chunk
};

}  // namespace vole_trace
