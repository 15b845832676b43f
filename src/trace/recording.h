// One session's recording: it cuts time into generations, and each part of it into the file or ring.
//
// Who    the writer's thread alone.
// Law    between `begin` and `stop` there is a generation that is kept, unless it is paused. Everybody
//        has seen that there is a trace before the first one begins.
#pragma once

#include <cstdint>

#include "trace/sink.h"

namespace vole::rt::trace {

class recording {
 public:
  recording(int fd, std::int64_t window, std::uint64_t ticks_per_second);  // fd -1: a ring

  void begin();
  void stop();   // from here on nobody writes
  void cut();    // the next generation; goes on after a pause
  void pause();  // nothing is recorded until the next cut
  void drain();  // what others have submitted is written

  // In between: drains, and cuts if it is time. A file that cannot be written ends the recording.
  void look();
  std::int64_t until_next() const noexcept;  // how long there is nothing to do

  // ── what others ask for ── 0 or errno
  int write_names();  // what was recorded is complete and named
  int write_snapshot(const char* path);
  int finish();

 private:
  void next_generation();
  void go_to(std::uint32_t stamp) noexcept;
  std::uint64_t start_generation();
  void list(std::uint32_t generation);
  void put_names();
  void give_up();

  const bool ring_;
  sink sink_;
  std::int64_t next_cut_;
  bool stopped_ = false, paused_ = false;
};

// How many ticks there are in a second, having chosen how long one is. Sleeps for a moment.
std::uint64_t measure_ticks() noexcept;

}  // namespace vole::rt::trace
