// Execution traces: what every goroutine did, and when. docs/tracing.md
//
//     vole::trace::start("app.trace");      // or VOLE_TRACE=app.trace, without a change to the program
//     ...
//     vole::trace::stop();                  // then: vole trace view app.trace
//
// One trace at a time, of the whole process. It may begin before a runtime runs and goes on when the
// next one starts; when the process exits it is ended. The calls below that take a path may wait for
// the disk: on a goroutine they give their P away meanwhile, as blocking() does.
//
// Errors: std::system_error for what the system refuses; the second form of each call returns it
// instead. std::logic_error for a call at the wrong time: beginning a trace while one is recorded,
// ending one that is not there. In the second form these are device_or_resource_busy and
// no_such_process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <vole/detail/trace.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace trace {

// ── into a file ──
void start(const std::string& file);
void start(const std::string& file, std::error_code& error) noexcept;
// The file is complete. What went wrong while it was written is thrown here, too.
void stop();
void stop(std::error_code& error) noexcept;

// Is one being recorded, to a file or by the flight recorder?
inline bool active() noexcept { return detail::tracing.load(std::memory_order_relaxed) != 0; }

// ── the flight recorder ── it keeps the last seconds, and writes them when asked
struct recorder_options {
  std::size_t bytes = 16u << 20;                        // at least 1 MiB
  std::chrono::nanoseconds window = std::chrono::seconds(10);  // older ones are forgotten
  std::string ring = {};  // keep it in this file, which outlives the process, however it
                                    // ends: `vole trace recover`. Empty: in memory
};
void record(const recorder_options& options = {});
void record(const recorder_options& options, std::error_code& error) noexcept;
void stop_recording();
void stop_recording(std::error_code& error) noexcept;
// Writes the ring's contents as a trace. The recorder goes on.
void snapshot(const std::string& file);
void snapshot(const std::string& file, std::error_code& error) noexcept;

// ── what the program has to say ── on a goroutine or a plain thread; nothing while there is no trace

// A part of what a goroutine does, from here to the end of the block. The name must stay valid until
// then; a literal does. At most 1000 bytes of a name are kept, and 4000 of a log's text.
class region {
 public:
  explicit region(std::string_view name) noexcept : name_(name), told_(active()) {
    if (told_) detail::tell_region(true, name);
  }
  ~region() {
    if (told_) detail::tell_region(false, name_);
  }
  region(const region&) = delete;
  region& operator=(const region&) = delete;

 private:
  const std::string_view name_;
  const bool told_;
};

// Something that several goroutines may work on: a request, a job.
class task {
 public:
  explicit task(std::string_view name) noexcept : id_(detail::begin_task(name, 0)) {}
  task(std::string_view name, const task& parent) noexcept
      : id_(detail::begin_task(name, parent.id_)) {}
  ~task() {
    if (id_ != 0) detail::end_task(id_);
  }
  task(const task&) = delete;
  task& operator=(const task&) = delete;

  void log(std::string_view category, std::string_view text) const noexcept {
    if (active()) detail::tell_log(id_, category, text);
  }

 private:
  const std::uint64_t id_;  // 0: there was no trace when it began
};

// A line in the trace, at this time and on this goroutine.
inline void log(std::string_view category, std::string_view text) noexcept {
  if (active()) detail::tell_log(0, category, text);
}

}  // namespace trace
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
