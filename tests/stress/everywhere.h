// The same work on goroutines and on plain threads.
#pragma once

#include <vole/vole.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "stress.h"

namespace vole_test {

// work(dice) on so many goroutines and plain threads at once, in a runtime.
template <class Work>
void everywhere(int goroutines, int threads, std::uint64_t stream, Work work) {
  vole::run([&] {
    vole::wait_group all;
    std::vector<std::thread> plain;
    for (int i = 0; i < threads; ++i)
      plain.emplace_back([&work, mine = ++stream] { work(dice(mine)); });
    for (int i = 0; i < goroutines; ++i) all.go([&work, mine = ++stream] { work(dice(mine)); });
    all.wait();
    for (std::thread& t : plain) t.join();
  });
}

}  // namespace vole_test
