// The threads that run goroutines, made to stand still for a moment.
//
// Who    picture.cc: the second reading of a live process.
// Law    only Ms are stopped: nobody else can run a goroutine, and stopping a plain thread would
//        break off its system call. A signal that is on its way when a thread stops is delivered
//        when it goes on. If this process ends, the kernel lets them go.
// Note   a thread that sleeps in the kernel, where no signal reaches it, is given up after a second:
//        it runs nothing.
#pragma once

#include <functional>
#include <vector>

#include "registers.h"

namespace vole_command::outside {

class pause {
 public:
  // `tids`: asked again after each round, until it names nobody new, since Ms are born.
  // Refuses when tracing is not permitted.
  pause(int pid, const std::function<std::vector<int>()>& tids);
  ~pause() { end(); }
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;

  const std::vector<thread_registers>& threads() const { return threads_; }
  void end();  // they go on
  double milliseconds() const { return milliseconds_; }

 private:
  struct seized {
    int tid;
    bool has_stopped = false;
    int signal = 0;  // that was on its way
  };
  void seize(int pid, int tid);
  void stop_from(std::size_t first);

  std::vector<seized> seized_;
  std::vector<thread_registers> threads_;
  double began_ = 0, milliseconds_ = 0;
};

}  // namespace vole_command::outside
