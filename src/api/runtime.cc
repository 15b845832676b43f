// include/vole/runtime.h: from the public names to the rooms.

#include <vole/runtime.h>

#include <stdexcept>
#include <system_error>
#include <string>

#include <vole/detail/checkpoint.h>
#include <vole/detail/left_behind.h>

#include "sched/run/boot.h"
#include "sched/report/inspect.h"
#include "sched/life/locked.h"
#include "sched/park.h"

namespace vole {
inline namespace v0 {
int max_procs() noexcept {
  detail::end_if_left_behind();
  return static_cast<int>(rt::boot::procs());
}

int set_max_procs(int n) {
  if (n < 1 || n > static_cast<int>(rt::boot::kMostProcs))
    throw std::invalid_argument("vole::set_max_procs: must be from 1 to 1024, not " +
                                std::to_string(n));
  detail::end_if_left_behind();
  return static_cast<int>(rt::boot::set_procs(static_cast<std::uint32_t>(n)));
}

int set_max_threads(int n) {
  if (n < 1)
    throw std::invalid_argument("vole::set_max_threads: must be at least 1, not " +
                                std::to_string(n));
  detail::end_if_left_behind();
  return static_cast<int>(rt::boot::set_max_threads(static_cast<std::uint32_t>(n)));
}

std::size_t num_goroutines() noexcept { return stats().goroutines; }

std::uint64_t goroutine_id() noexcept {
  detail::end_if_left_behind();
  return rt::current_id();
}

void lock_os_thread() noexcept { rt::lock_thread(); }
void unlock_os_thread() noexcept { rt::unlock_thread(); }

void checkpoint() noexcept { rt::checkpoint(); }

namespace detail {

void at_function_entry() noexcept { rt::entry_checkpoint(); }

}  // namespace detail

runtime_stats stats() noexcept {
  const rt::snapshot now = rt::take_snapshot();
  runtime_stats s;
  s.procs = static_cast<int>(now.procs);
  s.idle_procs = static_cast<int>(now.idle_procs);
  s.threads = static_cast<int>(now.threads);
  s.idle_threads = static_cast<int>(now.idle_threads);
  s.spinning_threads = now.spinning;
  s.zombie_threads = static_cast<int>(now.zombies);
  s.blocking_threads = static_cast<int>(now.in_calls);
  s.goroutines =
      now.spawned > now.finished ? static_cast<std::size_t>(now.spawned - now.finished) : 0;
  s.global_queue = now.global_queue;
  s.local_queues = now.local_queues;
  s.spawned = now.spawned;
  s.finished = now.finished;
  s.switches = now.switches;
  s.steals = now.steals;
  s.stolen = now.stolen;
  s.overflows = now.overflows;
  s.hand_offs = now.hand_offs;
  s.preemptions = now.preemptions;
  s.evictions = now.evictions;
  s.hooked_waits = now.hooked_waits;
  s.hooked_migrations = now.hooked_migrations;
  s.stacks_in_use = now.stacks_held;
  s.stacks_free = now.stacks_hot;
  s.stacks_returned = now.stacks_cold;
  return s;
}

void dump_on_sigquit() {
  if (const int error = rt::boot::dump_on_sigquit())
    throw std::system_error(error, std::generic_category(), "vole::dump_on_sigquit");
}

void shutdown() {
  if (rt::current_id() != 0)
    throw std::logic_error("vole::shutdown: called on a goroutine, which it would end");
  rt::boot::shutdown();
}

}  // namespace v0
}  // namespace vole
