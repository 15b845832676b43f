// Slice timers and the handler of their signal, on plain threads.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "os/os.h"

namespace vole::os {
namespace {

constexpr std::int64_t kMilli = 1000 * 1000;

std::atomic<int> slices{0}, theirs{0};
std::atomic<std::uint64_t> last_thread{0};
std::atomic<const void*> last_sp{nullptr};

void count_slice(const void* sp, const void*) noexcept {
  errno = 77;
  last_thread = thread_id();
  last_sp = sp;
  ++slices;
}

// SIGUSR1 had a handler before ours came.
void install() {
  static const bool once = [] {
    struct sigaction before {};
    before.sa_handler = [](int) { ++theirs; };
    sigaction(SIGUSR1, &before, nullptr);
    return install_preempt_handler(SIGUSR1, &count_slice);
  }();
  ASSERT_TRUE(once);
}

void burn_until_slice() {
  for (const int was = slices; slices == was;) {
  }
}

TEST(SliceTimer, ComesToItsThreadAndKeepsErrno) {
  install();
  std::thread([] {
    int id = -1;
    ASSERT_EQ(start_slice_timer(&id, SIGUSR1, kMilli, false), 0);
    errno = 5;
    burn_until_slice();
    EXPECT_EQ(errno, 5);
    EXPECT_EQ(last_thread, thread_id());
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto there = reinterpret_cast<std::uintptr_t>(last_sp.load());
    EXPECT_LT(here > there ? here - there : there - here, 64u * 1024);
    stop_slice_timer(id);
  }).join();
  EXPECT_EQ(theirs, 0);
}

TEST(SliceTimer, OpensTheSignalForItsThread) {
  install();
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    int id = -1;
    ASSERT_EQ(start_slice_timer(&id, SIGUSR1, kMilli, true), 0);
    burn_until_slice();
    stop_slice_timer(id);
  }).join();
}

TEST(PreemptHandler, PassesOnWhatIsNotOurs) {
  install();
  const int before = slices, were = theirs;
  raise(SIGUSR1);
  EXPECT_EQ(theirs, were + 1);
  EXPECT_EQ(slices, before);
}

TEST(PreemptHandler, TakesNoFaultsAndNothingOfLibcs) {
  for (const int s : {SIGURG, SIGUSR1, SIGUSR2, SIGALRM, SIGRTMIN, SIGRTMAX})
    EXPECT_TRUE(may_preempt_with(s)) << s;
  for (const int s : {-1, 0, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS,
                      SIGABRT, 32, 33, SIGRTMAX + 1})
    EXPECT_FALSE(may_preempt_with(s)) << s;
}

TEST(AlternateStack, KnowsItsOwn) {
  std::thread([] {
    std::byte* memory = nullptr;
    ASSERT_TRUE(make_alternate_stack(&memory));
    const int local = 0;
    EXPECT_FALSE(in_alternate_stack(memory, &local));
    EXPECT_FALSE(in_alternate_stack(nullptr, &local));
    EXPECT_FALSE(in_alternate_stack(memory, memory));  // the guard
    EXPECT_TRUE(in_alternate_stack(memory, memory + page_size()));
    drop_alternate_stack(memory);
  }).join();
}

}  // namespace
}  // namespace vole::os
