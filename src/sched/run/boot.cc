#include "sched/run/boot.h"

#include "arch/sanitizer.h"
#include "base/fatal.h"
#include "os/os.h"
#include "poll/poll.h"
#include "sched/run/control_door.h"
#include "sched/report/crash.h"
#include "sched/report/dump.h"
#include "sched/run/end.h"
#include "sched/life/enter.h"
#include "sched/run/lifecycle.h"
#include "sched/hold/thread_maker.h"
#include "sched/report/reporter.h"
#include "sched/state.h"
#include "sched/hold/strict.h"
#include "sched/watch/sysmon.h"
#include "sched/life/value_move.h"
#include "sched/hold/world.h"
#include "stack/depot.h"
#include "trace/house.h"

namespace vole::rt::boot {
namespace {

using lifecycle::phase;

static_assert(kMostProcs == kMaxProcs);

constinit base::lock<lock_rank::lifecycle> one_at_a_time;
constinit bool environment_read = false;

void read_settings_locked() noexcept {
  if (environment_read) return;
  read_environment(sched.settings);
  if (sched.settings.mprotect_guards) depot::use_mprotect_guards(true);
  environment_read = true;
}

std::uint32_t wanted_procs() noexcept {
  if (const std::uint32_t n = sched.settings.procs.load(relaxed)) return n;
  const auto n = static_cast<std::uint32_t>(os::cpu_count());
  return n < kMaxProcs ? n : kMaxProcs;
}

void must_start(int error, const char* who) noexcept {
  if (error == 0) return;
  fatal(sentence() << "cannot create the " << who << " thread: " << os::error_text(error)
                   << ". Raise `ulimit -u`, the cgroup's pids.max or the memory limit");
}

// The reports that VOLE_DEBUG asks for.
void start_reports() noexcept {
  reporter::new_runtime();
  if (sched.settings.stall_ms != 0) must_start(reporter::start(), "reporter");
  if (sched.settings.sigquit) must_start(reporter::dump_on_sigquit(), "reporter");
}

// VOLE_TRACE; and a trace that goes on is told that a new runtime begins.
void start_traces() noexcept {
  trace::ask_for_stacks(sched.settings.stacks);
  if (sched.settings.trace != nullptr)
    if (const int error = trace::start_from_environment(sched.settings.trace))
      refuse_trace(sched.settings.trace, error);
  trace::runtime_begins();
}

void start_locked() noexcept {
  read_settings_locked();
  start_reports();
  if (!os::membarrier_register())
    fatal(
        "this kernel has no private expedited membarrier, which the scheduler is built on. It needs Linux "
        "4.14 or later, and a sandbox (seccomp) that allows membarrier");
  lifecycle::watch_forks();
  start_traces();
  crash::install();
  strict::begin();
  sched.coarse_now.store(os::now_ns(), relaxed);
  world::resize(wanted_procs());
  if (const int error = poll::start())
    fatal(sentence() << "cannot make the network poller: " << os::error_text(error)
                     << ". It needs two file descriptors: raise `ulimit -n`");
  must_start(thread_maker::start(), "thread maker's");
  world::begin();
  must_start(sysmon::start(), "sysmon");
  lifecycle::set(phase::running);
  if (sched.settings.control) control::start();
}

// VOLE_DEBUG=leaks=1: `left` is a picture of the goroutines that are still there.
leaving_threads stop_locked(capture& left) noexcept {
  control::stop();  // it asks things of a runtime that runs
  sysmon::stop();  // first: a timer it fires may have to come in as a guest
  lifecycle::set(phase::stopping);
  lifecycle::wait_for_guests();
  const bool asked = sched.settings.leaks && left.prepare();
  world::stop("end");
  if (asked) left.take(nullptr, nullptr, true, nullptr);
  const leaving_threads list = end_everything([]() noexcept {
    crash::uninstall();
    lifecycle::set(phase::stopped);
  });
  trace::runtime_ended();
  return list;
}

// Main is still there: it has finished, and waits for nothing.
void tell_leaks(capture& left) noexcept {
  left.drop_if([](const captured& c) noexcept {
    return c.status == g_status::waiting && c.why == wait_reason::none;
  });
  dump::leaks(left);
}

// Changes the number for this runtime and the next together, with the world stopped.
std::uint32_t set_procs_of_running(std::uint32_t n) noexcept {
  if (sched.procs.load(seq_cst) == n && sched.settings.procs.load(seq_cst) == n) return n;
  world::stop("max_procs");
  const std::uint32_t had = sched.procs.load(relaxed);
  sched.settings.procs = n;
  if (had != n) world::resize(n);
  world::start();
  return had;
}

}  // namespace

void refuse_forked_child() noexcept { lifecycle::refuse_forked_child(); }

bool begin_run() noexcept {
  lifecycle::refuse_forked_child();
  refuse_in_value_move();
  const strict::undisturbed here;
  holding hold(one_at_a_time);
  if (sched.in_run.load(seq_cst)) return false;
  if (lifecycle::now() == phase::stopped) start_locked();
  sched.main_runs.store(false, seq_cst);
  sched.in_run.store(true, seq_cst);
  return true;
}

void main_runs(bool yes) noexcept { sched.main_runs.store(yes, seq_cst); }

void end_run() noexcept {
  base::wait_if_dying();  // the sooner, the more of the runtime can be told of
  leaving_threads threads;
  capture left;
  {
    holding hold(one_at_a_time);
    threads = stop_locked(left);
    sched.in_run.store(false, seq_cst);
  }
  threads.join();
  tell_leaks(left);
  base::wait_if_dying();  // one that was in user code all the while
}

void start_implicitly() noexcept {
  lifecycle::refuse_forked_child();
  holding hold(one_at_a_time);
  if (lifecycle::now() == phase::stopped) start_locked();
}

void shutdown() noexcept {
  lifecycle::refuse_forked_child();
  refuse_in_value_move();
  base::wait_if_dying();
  leaving_threads threads;
  capture left;
  {
    holding hold(one_at_a_time);
    if (!sched.in_run.load(seq_cst) && lifecycle::now() == phase::running)
      threads = stop_locked(left);
  }
  threads.join();
  tell_leaks(left);
  base::wait_if_dying();  // one that was in user code all the while
}

int dump_on_sigquit() noexcept {
  lifecycle::refuse_forked_child();
  refuse_in_value_move();
  return reporter::dump_on_sigquit();
}

std::uint32_t procs() noexcept {
  if (const std::uint32_t n = sched.procs.load(seq_cst)) return n;
  holding hold(one_at_a_time);
  read_settings_locked();
  return wanted_procs();
}

std::uint32_t set_procs(std::uint32_t n) noexcept {
  lifecycle::refuse_forked_child();
  refuse_in_value_move();
  const bool guest = this_m() == nullptr;
  while (guest && !guest_enter()) {
    guest_leave();
    holding hold(one_at_a_time);
    if (lifecycle::now() != phase::stopped) continue;  // one has started meanwhile
    read_settings_locked();
    const std::uint32_t had = wanted_procs();
    sched.settings.procs = n;
    return had;
  }
  const std::uint32_t had = set_procs_of_running(n);
  if (guest) guest_leave();
  return had;
}

std::uint32_t set_max_threads(std::uint32_t n) noexcept {
  lifecycle::refuse_forked_child();
  const strict::undisturbed here;
  holding hold(sched.lock);
  const std::uint32_t had = sched.settings.max_threads;
  sched.settings.max_threads = n;
  return had;
}

}  // namespace vole::rt::boot
