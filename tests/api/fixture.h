// The fixture of all tests that run goroutines: at 1, 2 and 4 Ps, and nothing left over.
//
// Who    tests/api and tests/stress.
// Law    after every run(): no goroutine, no new zombie (unless the test made one),
//        as many open files and kernel threads as before the test. run() of the
//        fixture does everything twice: a runtime must restart.
// Note   the kernel may show a joined thread for a moment; that is waited for.
#pragma once

#include <gtest/gtest.h>
#include <vole/vole.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

namespace vole_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

inline std::ptrdiff_t entries(const char* folder) {
  std::error_code gone;  // a thread that ends while we count
  std::ptrdiff_t n = 0;
  for (std::filesystem::directory_iterator it(folder, gone), end; !gone && it != end;
       it.increment(gone))
    ++n;
  return n;
}
inline std::ptrdiff_t open_files() { return entries("/proc/self/fd"); }
inline std::ptrdiff_t kernel_threads() { return entries("/proc/self/task"); }

// True once pred() holds; false if it does not within half a minute, which no busy machine needs.
template <class Pred>
bool eventually(Pred pred) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!pred()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

class Runtime : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    vole::run([] {});  // whatever the process keeps after its first runtime is there now
    procs_ = vole::set_max_procs(procs());
    zombies_ = vole::stats().zombie_threads;
    files_ = open_files();
    threads_ = kernel_threads();
  }
  void TearDown() override {
    vole::shutdown();
    expect_clean();
    vole::set_max_procs(procs_);
  }

  int procs() const { return GetParam(); }

  // The test leaves `n` more threads in user code, for ever.
  void expect_zombies(int n) {
    zombies_ += n;
    threads_ += n;
  }

  // A thread was perhaps in user code until the grace was over: how many, the machine decides.
  void allow_zombies() { expect_zombies(vole::stats().zombie_threads - zombies_); }

  void expect_clean() const {
    EXPECT_EQ(vole::num_goroutines(), 0u);
    EXPECT_EQ(vole::stats().zombie_threads, zombies_);
    EXPECT_EQ(open_files(), files_);
    // Fewer, too: a thread that was joined before the test may still have been listed then.
    EXPECT_TRUE(eventually([this] { return kernel_threads() <= threads_; }))
        << kernel_threads() << " threads instead of " << threads_;
  }

  // body() as the main goroutine, twice, each time with nothing left over.
  template <class F>
  void run(F body) {
    for (int round = 0; round < 2; ++round) {
      vole::set_max_procs(procs());
      EXPECT_EQ(vole::run(body), 0);
      expect_clean();
    }
  }

 private:
  int procs_ = 0;
  int zombies_ = 0;
  std::ptrdiff_t files_ = 0, threads_ = 0;
};

inline std::string procs_name(const testing::TestParamInfo<int>& p) {
  return std::to_string(p.param) + (p.param == 1 ? "Proc" : "Procs");
}

}  // namespace vole_test

#define VOLE_AT_1_2_4_PROCS(Suite) \
  INSTANTIATE_TEST_SUITE_P(Ps, Suite, testing::Values(1, 2, 4), vole_test::procs_name)
