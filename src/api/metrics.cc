// include/vole/runtime.h: metrics().

#include <vole/runtime.h>

namespace vole {
inline namespace v0 {
namespace {

void put(std::string& out, const char* name, const char* type, const char* help,
         std::uint64_t value) {
  const std::string full = std::string("vole_") + name;
  out += "# HELP " + full + " " + help + "\n# TYPE " + full + " " + type + "\n";
  out += full + " " + std::to_string(value) + "\n";
}

}  // namespace

std::string metrics() {
  const runtime_stats s = stats();
  const auto n = [](auto v) { return static_cast<std::uint64_t>(v < 0 ? 0 : v); };
  std::string out;
  const auto gauge = [&](const char* name, auto value, const char* help) {
    put(out, name, "gauge", help, n(value));
  };
  const auto counter = [&](const char* name, std::uint64_t value, const char* help) {
    put(out, name, "counter", help, value);
  };
  gauge("procs", s.procs, "Goroutines that may run at once.");
  gauge("idle_procs", s.idle_procs, "Processors without work.");
  gauge("threads", s.threads, "Threads that run goroutines.");
  gauge("idle_threads", s.idle_threads, "Threads that sleep until they are needed.");
  gauge("spinning_threads", s.spinning_threads, "Threads that look for work.");
  gauge("zombie_threads", s.zombie_threads, "Threads left in user code by runtimes that ended.");
  gauge("blocking_threads", s.blocking_threads, "Threads in blocking().");
  gauge("goroutines", s.goroutines, "Goroutines that are alive.");
  gauge("global_queue_goroutines", s.global_queue, "Goroutines in the global queue.");
  gauge("local_queue_goroutines", s.local_queues, "Goroutines in all local queues together.");
  gauge("stacks_in_use", s.stacks_in_use, "Stacks held by goroutines or kept at hand.");
  gauge("stacks_free", s.stacks_free, "Free stacks that keep their memory.");
  gauge("stacks_returned", s.stacks_returned, "Free stacks whose memory was given back.");
  counter("spawned_total", s.spawned, "Goroutines started.");
  counter("finished_total", s.finished, "Goroutines that have ended.");
  counter("switches_total", s.switches, "Goroutines put on a thread.");
  counter("steals_total", s.steals, "Successful steals.");
  counter("stolen_total", s.stolen, "Goroutines moved by steals.");
  counter("overflows_total", s.overflows, "Local queues that spilled into the global one.");
  counter("hand_offs_total", s.hand_offs,
          "Processors passed on by threads that could not use them.");
  counter("preemptions_total", s.preemptions,
          "Goroutines that yielded because their slice was over.");
  counter("evictions_total", s.evictions,
          "Processors taken from goroutines that blocked, or did not yield.");
  counter("hooked_waits_total", s.hooked_waits,
          "Calls of libraries that parked their goroutine.");
  counter("hooked_migrations_total", s.hooked_migrations,
          "Such calls that came back on another thread than their own.");
  return out;
}

}  // namespace v0
}  // namespace vole
