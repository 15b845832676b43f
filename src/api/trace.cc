// include/vole/trace.h: from the public names to the rooms.

#include <vole/trace.h>

#include <stdexcept>
#include <string>

#include "sched/run/boot.h"
#include "sched/life/call.h"
#include "sched/park.h"
#include "trace/emit.h"
#include "trace/session.h"

namespace vole {
inline namespace v0 {
namespace {

constexpr std::size_t kMostName = 1000, kMostText = 4000, kLeastRing = 1u << 20;

// Waits for the disk and for a thread of ours: the P goes elsewhere. The lock that is held meanwhile
// must not be captured with its thread.
template <class Fn>
std::error_code beside(Fn&& fn) noexcept {
  rt::boot::refuse_forked_child();
  rt::begin_call();
  std::error_code error;
  {
    const rt::undisturbed here;
    error = fn();
  }
  rt::end_call();
  return error;
}

[[noreturn]] void refuse(const std::string& what, std::error_code error, const char* busy) {
  if (error == std::errc::device_or_resource_busy || error == std::errc::no_such_process)
    throw std::logic_error(what + ": " + busy);
  throw std::system_error(error, what);
}

constexpr const char* kBusy = "a trace is being recorded already";
constexpr const char* kNone = "none is being recorded";

// Inside as this goroutine, or as a plain thread.
template <class Fn>
void tell(Fn&& fn) noexcept {
  if (!rt::on_goroutine()) return fn(nullptr);
  rt::M* const m = rt::enter();
  if (rt::trace::is_traced(*m)) fn(m);
  rt::leave(m);
}

constinit rt::atomic<std::uint64_t> last_task{0};

}  // namespace

namespace detail {

rt::atomic<std::uint32_t>& tracing = rt::trace::now_on;

void tell_region(bool begins, std::string_view name) noexcept {
  tell([&](rt::M* m) { rt::trace::region(m, begins, name.substr(0, kMostName)); });
}
std::uint64_t begin_task(std::string_view name, std::uint64_t parent) noexcept {
  if (!rt::trace::is_on()) return 0;
  const std::uint64_t id = last_task.fetch_add(1, rt::relaxed) + 1;
  tell([&](rt::M* m) { rt::trace::task_begins(m, id, parent, name.substr(0, kMostName)); });
  return id;
}
void end_task(std::uint64_t id) noexcept {
  tell([&](rt::M* m) { rt::trace::task_ends(m, id); });
}
void tell_log(std::uint64_t task, std::string_view category, std::string_view text) noexcept {
  tell([&](rt::M* m) {
    rt::trace::log(m, task, category.substr(0, kMostName), text.substr(0, kMostText));
  });
}

}  // namespace detail

namespace trace {

void start(const std::string& file, std::error_code& error) noexcept {
  error = beside([&] { return rt::trace::start_file(file.c_str()); });
}
void start(const std::string& file) {
  std::error_code error;
  start(file, error);
  if (error) refuse("vole::trace::start " + file, error, kBusy);
}

void stop(std::error_code& error) noexcept { error = beside(&rt::trace::finish); }
void stop() {
  std::error_code error;
  stop(error);
  if (error) refuse("vole::trace::stop", error, kNone);
}

void record(const recorder_options& o, std::error_code& error) noexcept {
  if (o.bytes < kLeastRing || o.bytes > (std::size_t{1} << 36) || o.window.count() <= 0) {
    error = std::make_error_code(std::errc::invalid_argument);
    return;
  }
  error = beside([&] {
    return rt::trace::start_recorder(
        {o.bytes, o.window.count(), o.ring.empty() ? nullptr : o.ring.c_str()});
  });
}
void record(const recorder_options& o) {
  std::error_code error;
  record(o, error);
  if (error == std::errc::invalid_argument)
    throw std::invalid_argument(
        "vole::trace::record: bytes must be from 1 MiB to 64 GiB, window more than nothing");
  if (error) refuse("vole::trace::record " + o.ring, error, kBusy);
}

void stop_recording(std::error_code& error) noexcept {
  error = beside(&rt::trace::finish_recorder);
}
void stop_recording() {
  std::error_code error;
  stop_recording(error);
  if (error) refuse("vole::trace::stop_recording", error, kNone);
}

void snapshot(const std::string& file, std::error_code& error) noexcept {
  error = beside([&] { return rt::trace::write_snapshot(file.c_str()); });
}
void snapshot(const std::string& file) {
  std::error_code error;
  snapshot(file, error);
  if (error) refuse("vole::trace::snapshot " + file, error, kNone);
}

}  // namespace trace
}  // namespace v0
}  // namespace vole
