// Worker pool: four goroutines share a queue of jobs; the first failure stops all of them.
//
// Teaches: group is Go's errgroup. The first exception that leaves one of its goroutines cancels
// context(), and wait() throws it. Everything that waits takes the context, so nobody is left
// behind: neither the workers nor the goroutine that feeds them.

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

constexpr int kWorkers = 4, kJobs = 1000, kBad = 500;

void work_on(int job) {
  if (job == kBad) throw std::runtime_error("job " + std::to_string(job) + " is broken");
}

}  // namespace

int main() {
  return vole::run([] {
    const vole::chan<int> jobs(16);
    std::atomic<int> done{0}, left{0};
    vole::group pool;

    for (int w = 0; w < kWorkers; ++w)
      pool.go({.name = "worker " + std::to_string(w)}, [&] {
        // Ends when the queue is closed and empty, or when the context is cancelled.
        while (auto job = jobs.recv(pool.context())) {
          work_on(*job);
          ++done;
        }
        ++left;
      });

    pool.go({.name = "feeder"}, [&] {
      for (int job = 1; job <= kJobs; ++job)
        if (jobs.send(job, pool.context()) != vole::chan_status::ok) return;  // cancelled
      jobs.close();
    });

    try {
      pool.wait();
    } catch (const std::runtime_error& e) {
      std::printf("stopped: %s; %d jobs were done, %d of %d workers left in order\n", e.what(),
                  done.load(), left.load(), kWorkers);
      return done < kJobs && left == kWorkers - 1 ? 0 : 1;
    }
    return 1;
  });
}
