// Stacks of goroutines that run while they are looked at.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include <vole/vole.h>

#include "fixture.h"

namespace vole_test {
namespace {

using namespace vole;
using testing::HasSubstr;
using testing::Not;

std::string dumped(dump_format format = dump_format::text) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  dump_goroutines(out, format);
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

std::atomic<bool> stop{false};
std::atomic<int> turning{0};

[[gnu::noinline]] void turns_in_a_circle() {
  ++turning;
  while (!stop.load(std::memory_order_relaxed)) {
  }
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void sleeps_in_the_kernel(std::atomic<int>& word) {
  word.wait(0);
  asm volatile("" ::: "memory");
}

class Running : public Runtime {};

// ThreadSanitizer runs handlers when it suits it, so nobody is asked there.
#if defined(__SANITIZE_THREAD__)
constexpr bool kAsks = false;
#elif defined(__has_feature)
constexpr bool kAsks = !__has_feature(thread_sanitizer);
#else
constexpr bool kAsks = true;
#endif

TEST_P(Running, ALoopThatNeverYieldsIsShownWithItsStack) {
  run([] {
    stop = false;
    turning = 0;
    wait_group all;
    for (int i = 0; i < 3; ++i) all.go({.name = "looper"}, &turns_in_a_circle);
    ASSERT_TRUE(eventually([] {
      yield();
      return turning == 3;
    }));
    if (kAsks) {
      EXPECT_TRUE(eventually([] {
        const std::string text = dumped();
        return text.find("turns_in_a_circle") != std::string::npos &&
               text.find("did not say where") == std::string::npos;
      })) << dumped();
    } else {
      EXPECT_THAT(dumped(), HasSubstr("did not say where"));
    }
    stop = true;
    all.wait();
  });
}

TEST_P(Running, APlainThreadSeesThemToo) {
  run([] {
    stop = false;
    turning = 0;
    wait_group all;
    all.go(&turns_in_a_circle);
    ASSERT_TRUE(eventually([] {
      yield();
      return turning == 1;
    }));
    std::atomic<int> seen{0};
    std::thread looker([&] {
      seen = !kAsks || eventually([] {
        return dumped(dump_format::json).find("turns_in_a_circle") != std::string::npos;
      })
                 ? 1
                 : 2;
    });
    blocking([&] { looker.join(); });
    EXPECT_EQ(seen, 1);
    stop = true;
    all.wait();
  });
}

TEST_P(Running, AThreadThatSleepsInTheKernelIsLeftAlone) {
  run([] {
    std::atomic<int> word{0};
    wait_group all;
    all.go({.name = "sleeper"}, [&] { sleeps_in_the_kernel(word); });
    EXPECT_TRUE(eventually([] {
      yield();
      return dumped().find("sleeps in the kernel, and is left alone") != std::string::npos;
    })) << dumped();
    word = 1;
    word.notify_all();
    all.wait();
  });
}

TEST_P(Running, ACallIsNamedAsOne) {
  run([] {
    std::atomic<int> word{0};
    wait_group all;
    all.go([&] { blocking([&] { word.wait(0); }); });
    EXPECT_TRUE(eventually([] {
      yield();
      return dumped().find("(in blocking(); its thread is left alone)") != std::string::npos;
    })) << dumped();
    word = 1;
    word.notify_all();
    all.wait();
  });
}

VOLE_AT_1_2_4_PROCS(Running);

}  // namespace
}  // namespace vole_test
