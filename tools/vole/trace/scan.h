// The first look at a generation: who is there, what is defined, and how things stood when it began.
//
// Who    order.cc, which then puts the events in order; history.cc, for names and origins.
// Law    what is thrown is a `damaged` that names thread, event and byte.
// Note   needed because a goroutine's or a P's state at the begin is told by its first event,
//        wherever that stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/event.h"
#include "trace/file.h"

namespace vole_trace {

inline constexpr std::uint32_t kNobody = 0xffffffffU;  // no goroutine, no thread, no P
inline constexpr std::uint64_t kMostPs = 65536;

// The first six are the format's numbers.
enum class state : std::uint8_t {
  runnable,
  running,
  waiting,
  call,
  evicted,
  preempted,
  unknown,  // not mentioned yet, or after a gap
  dead,
};
inline constexpr std::size_t kStates = 7;  // those that take time

inline bool on_thread(state s) {
  return s == state::running || s == state::call || s == state::evicted;
}

// A place: a wait reason and program counters, the innermost first. Equal ones have one number,
// in the whole file; 0 is "not known".
class place_table {
 public:
  place_table() { add(0, {}); }
  std::uint32_t add(std::uint64_t reason, const std::vector<std::uint64_t>& pcs);
  std::uint64_t reason(std::uint32_t place) const { return reasons_[place]; }
  const std::vector<std::uint64_t>& pcs(std::uint32_t place) const { return pcs_[place]; }
  std::size_t size() const { return reasons_.size(); }

 private:
  std::vector<std::uint64_t> reasons_;
  std::vector<std::vector<std::uint64_t>> pcs_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
};

struct scanned_thread {
  std::uint32_t number = 0;
  const std::vector<chunk>* chunks = nullptr;  // nullptr: no events in this generation
  std::uint64_t kernel = 0;                    // thread id, if it was listed
  std::vector<std::uint32_t> sites;            // places; [0] is "not known"
  std::vector<std::string_view> strings;       // [0] is empty
  bool has_first = false;
  bool listed = false;
  // How it stood when the generation began.
  std::uint32_t p = kNobody;
  std::uint64_t acquisition = 0;
  std::uint32_t g = kNobody;
  bool in_call = false;
  // thread_first, if there is one.
  std::uint32_t first_p = kNobody;
  std::uint64_t first_acquisition = 0;
  std::vector<std::uint64_t> thefts;  // after how many of its events its P is taken, in order
};

struct scanned_goroutine {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint32_t fn = 0, site = 0;  // places
  std::string_view name;
  bool created = false;  // in this generation
  bool has_first = false;
  bool listed = false;
  std::uint64_t waited = 0;  // ns, as listed
  state begin = state::unknown;
  std::uint64_t reason = 0;        // if it waited at the begin
  std::uint32_t thread = kNobody;  // if it was on one
};

struct scanned_p {
  std::uint32_t holder = kNobody;  // thread, at the begin
  std::uint64_t acquisition = 0;   // the last one, at the begin
  bool known = false;
  std::uint64_t lowest_start = 0;  // of all proc_start; 0: none
};

class id_table {  // ids of goroutines to numbers from 0 up
 public:
  std::uint32_t find(std::uint64_t id) const;  // or kNobody
  std::uint32_t add(std::uint64_t id);
  void clear();

 private:
  void grow();
  std::size_t slot(std::uint64_t id) const;
  struct entry {
    std::uint64_t id = 0;
    std::uint32_t number = 0;
  };
  std::vector<entry> slots_;
  std::uint32_t used_ = 0;
};

struct scan {
  const generation* of = nullptr;
  bytes content;
  std::vector<scanned_thread> threads;
  std::vector<scanned_goroutine> goroutines;
  std::vector<scanned_p> ps;
  id_table ids;
  std::unordered_map<std::uint64_t, std::uint32_t> thread_index;
  std::uint64_t events = 0;
};

scan scan_generation(bytes content, const generation& g, place_table& places);

// The sentence's begin for what is wrong at an event.
std::string where(const scanned_thread& thread, const event_reader& at);

}  // namespace vole_trace
