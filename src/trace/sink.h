// Where chunks go: a file as they come, or a ring that keeps the newest.
//
// Who    the writer.
// Law    a generation's chunks are written in the order in which they were submitted, so those of one
//        thread are in order. A ring forgets whole generations, the oldest first; one that could
//        not be ended is forgotten at once, and those before it.
// Note   after a write has failed nothing more is written, and `error` says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/format.h"

namespace vole::rt::trace {

// A moment on three clocks.
struct moment {
  std::uint64_t ticks;
  std::int64_t mono, wall;
};
moment this_moment() noexcept;

// What the end of a generation says of one thread.
struct book {
  struct count {
    std::uint64_t events = 0;
    std::uint32_t chunks = 0;
  };
  std::uint32_t generation = 0;
  std::unordered_map<std::uint32_t, count> threads;
  std::vector<chunk_header*> kept;  // a ring's, in order
  std::uint32_t chunks = 0;         // of events
  std::uint32_t listings = 0;
  std::int64_t ended = 0;  // ns of the monotonic clock; 0: not yet
};

class sink {
 public:
  sink(int fd, bool ring, std::int64_t window, std::uint64_t ticks_per_second);

  // ── generations ──
  void begin(std::uint32_t generation, const moment& at, std::uint32_t procs);
  void end(std::uint32_t generation, const moment& at, std::uint64_t lost);
  void add(chunk_header* full);  // a thread's chunk: written and freed, or kept
  void add_listing(std::uint32_t generation, const std::string& payload);
  void make_room();       // a ring's, of the oldest generations: after each end
  bool is_large() const;  // the newest generation has enough events

  // ── the file ──
  void write_names();  // those that have not been written yet
  void finish();       // it is complete
  int error() const noexcept { return error_; }

  // The complete generations of a ring, as a file of its own. 0 or errno.
  int write_snapshot(const char* path);

 private:
  book& book_of(std::uint32_t generation);
  bool put(chunk_kind kind, std::uint32_t generation, std::uint32_t number,
           const std::string& payload);
  void put_header();
  void write(chunk_header& h, const std::uint8_t* payload);
  void forget_oldest();

  int fd_;
  const bool ring_;
  const std::int64_t window_;
  const std::uint64_t ticks_per_second_;
  int error_ = 0;
  std::deque<book> books_;  // by generation; a file's: those not ended
  std::size_t named_ = 0;
  std::uint32_t name_chunks_ = 0, module_chunks_ = 0;
};

}  // namespace vole::rt::trace
