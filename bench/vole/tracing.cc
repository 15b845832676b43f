// How long a copy of the flight recorder's ring takes while goroutines write into it: bench/tracing.py.

#include "bench.h"

#include <vole/vole.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace bench {
namespace {

// N snapshots of a ring of 16 MiB that is full. Pairs of goroutines talk meanwhile, one for each P.
int snapshot(int n) {
  using namespace std::chrono_literals;
  const auto folder = std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                          : std::filesystem::temp_directory_path();
  const std::string path = folder / ("vole-bench-" + std::to_string(getpid()) + ".trace");
  std::atomic<bool> over{false};
  vole::wait_group talkers;
  vole::trace::record();
  for (int i = 0; i < vole::max_procs(); ++i) {
    const vole::chan<int> there, back;
    talkers.go([there, back] {
      for (const int v : there) back.send(v);
    });
    talkers.go([there, back, &over] {
      while (!over) {
        there.send(1);
        (void)back.recv();
      }
      there.close();
    });
  }
  vole::sleep_for(3s);  // about ten times what fills it
  std::vector<double> took;
  for (int i = 0; i < n; ++i) {
    const stopwatch watch;
    vole::trace::snapshot(path);
    took.push_back(watch.ms());
    vole::sleep_for(20ms);
  }
  const auto bytes = std::filesystem::file_size(path);
  over = true;
  talkers.wait();
  vole::trace::stop_recording();
  std::filesystem::remove(path);
  std::sort(took.begin(), took.end());
  report("snapshot", took[took.size() / 2], "ms");
  report("snapshot_most", took.back(), "ms");
  report("snapshot_size", static_cast<double>(bytes) / 1e6, "MB");
  return 0;
}

constexpr benchmark kTracing[] = {
    {"snapshot", snapshot, 21},
};

}  // namespace

std::span<const benchmark> tracing() { return kTracing; }

}  // namespace bench
