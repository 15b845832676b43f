// The depot and the kernel: guard pages, and what happens when mappings, locked memory or
// address space run short.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "stack/depot_fixture.h"

namespace vole::rt {
namespace {

TEST_F(Depot, GuardPagesAreKnownExactly) {
  for (const stack& s : take(kSize, 50)) {
    EXPECT_TRUE(depot::is_guard(s.lo - 1));
    EXPECT_TRUE(depot::is_guard(s.lo - os::page_size()));
    EXPECT_FALSE(depot::is_guard(s.lo));
    EXPECT_FALSE(depot::is_guard(s.lo + s.bytes - 1));
  }
  int local = 0;
  EXPECT_FALSE(depot::is_guard(&local));
  EXPECT_FALSE(depot::is_guard(nullptr));
}

// Asks the kernel, which does not fault.
bool can_be_read(const std::byte* at) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool readable = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

TEST_F(Depot, ThreadsThatNeedNewOnesAtOnceGetGuardedOnes) {
  constexpr std::size_t kEach = 700;
  std::vector<stack> got[4];
  std::vector<std::thread> threads;
  for (std::vector<stack>& mine : got) threads.emplace_back([&mine] { mine = take(kSize, kEach); });
  for (std::thread& t : threads) t.join();
  std::set<std::uint32_t> ids;
  for (const std::vector<stack>& mine : got) {
    EXPECT_EQ(mine.size(), kEach);
    for (const stack& s : mine) {
      EXPECT_TRUE(ids.insert(s.id).second);
      EXPECT_FALSE(can_be_read(s.lo - 1));
      EXPECT_TRUE(can_be_read(s.lo));
    }
  }
  EXPECT_EQ(depot::count().held, 4 * kEach);
  for (const std::vector<stack>& mine : got) put(mine);
}

void hit_guard(bool by_mprotect) {
  depot::force_mprotect_guards_for_test(by_mprotect);
  const std::vector<stack> all = take(kSize, 40);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGSEGV, &standard, nullptr);
  os::install_fault_handler(
      [](const os::fault& f) noexcept { _exit(depot::is_guard(f.address) ? 9 : 10); });
  *static_cast<volatile std::byte*>(all[33].lo - 1) = std::byte{1};
  _exit(11);
}

TEST_F(DepotDeathTest, WritingBelowAStackFaultsInItsGuard) {
  EXPECT_EXIT(hit_guard(false), testing::ExitedWithCode(9), "^$");
  EXPECT_EXIT(hit_guard(true), testing::ExitedWithCode(9), "stack guards use mprotect, at most");
}

// What an emulator does that does not know the advice: it says yes, and nothing happens.
void pretend_to_guard() {
  constexpr int kGuardInstall = 102;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_madvise, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kGuardInstall, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),  // 0: success
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {std::size(program), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(12);
}

TEST_F(DepotDeathTest, GuardsThatTheKernelOnlyPromisesAreNotBelieved) {
  if (depot::count().guards_by_mprotect > 0) GTEST_SKIP() << "no cheap guards on this kernel";
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process that has made no guards yet
  EXPECT_EXIT((pretend_to_guard(), hit_guard(false)), testing::ExitedWithCode(9),
              "has it in name only; stack guards use mprotect, at most");
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

TEST_F(Depot, HundredThousandStacksNeedFewMappings) {
  const std::size_t before = mappings();
  const std::vector<stack> all = take(kSize, 100'000);
  ASSERT_EQ(all.size(), 100'000u);
  if (depot::count().guards_by_mprotect > 0) GTEST_SKIP() << "no cheap guards on this kernel";
  EXPECT_LT(mappings() - before, 200u);
  EXPECT_LT(depot::count().regions, 60u);
  put(all);
}

TEST_F(Depot, MprotectGuardsStopAtTheBudget) {
  depot::force_mprotect_guards_for_test(true);
  const std::size_t most = os::mapping_budget() / 2;
  if (most > 100'000) GTEST_SKIP() << "vm.max_map_count is very large here";
  testing::internal::CaptureStderr();
  const std::vector<stack> all = take(depot::kMinStackSize, most + 100);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(all.size(), most);
  EXPECT_EQ(depot::count().guards_by_mprotect, most);
  stack s;
  int error = 0;
  EXPECT_EQ(depot::take(depot::kMinStackSize, &s, 1, &error), 0u);
  EXPECT_EQ(error, ENOMEM);
  depot::force_mprotect_guards_for_test(false);  // those that were refused one can have it now
  const bool given = depot::take(depot::kMinStackSize, &s, 1, &error) == 1;
  EXPECT_FALSE(given && can_be_read(s.lo - 1));
  depot::release_all();
  EXPECT_EQ(depot::count().guards_by_mprotect, 0u);
  EXPECT_TRUE(take_one(kSize));
}

void trim_under_mlockall() {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_MEMLOCK, &all);
  const stack early = take_one(64 * 1024);
  if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) _exit(42);
  const std::vector<stack> later = take(kSize, 200);
  if (later.size() != 200) _exit(1);
  for (const stack& s : later)
    if (resident(s) != 0) _exit(2);  // locked memory must not mean 50 MiB at once
  if (depot::count().guards_by_mprotect != 0) _exit(3);
  depot::put(&early, 1);
  depot::trim();
  if (depot::trim() != 1 || depot::count().cold != 0) _exit(4);  // its pages are locked
  if (take_one(64 * 1024).id != early.id) _exit(5);
  os::install_fault_handler(
      [](const os::fault& f) noexcept { _exit(depot::is_guard(f.address) ? 0 : 6); });
  *static_cast<volatile std::byte*>(later[150].lo - 1) = std::byte{1};
}

TEST_F(DepotDeathTest, LockedProcessStillGetsLazyGuardedStacks) {
  if (kSanitized) GTEST_SKIP() << "locking all memory under sanitizers is not wise";
  const auto fine = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 42);
  };
  EXPECT_EXIT(trim_under_mlockall(), fine, "");
}

void exhaust(__rlimit_resource resource) {
  std::size_t all, skip, data;
  std::ifstream("/proc/self/statm") >> all >> skip >> skip >> skip >> skip >> data;
  const rlim_t bytes = (resource == RLIMIT_AS ? all : data) * os::page_size() + (200u << 20);
  const rlimit limit{bytes, bytes};
  if (setrlimit(resource, &limit) != 0) _exit(2);
  std::uint32_t n = 0;
  stack s;
  int error = 0;
  while (n < 10'000 && depot::take(kSize, &s, 1, &error, n % 3) == 1) {
    touch(s);
    ++n;
  }
  if (n < 300 || n > 900) _exit(3);
  if (error != ENOMEM) _exit(4);
  for (std::uint32_t who = 0; who < 5; ++who)  // nor does anybody else find one
    if (depot::take(kSize, &s, 1, &error, who) != 0) _exit(7);
  depot::put(&s, 1);
  if (depot::take(kSize, &s, 1, &error) != 1) _exit(5);  // what is free can still be had
  depot::release_all();
  _exit(depot::take(kSize, &s, 1, &error) == 1 ? 0 : 6);
}

// One lane has made stacks ready that nobody has claimed; then the kernel gives no more.
void exhaust_beside_a_neighbour() {
  constexpr std::size_t kOfOne = 600;
  stack s;
  int error = 0;
  for (std::size_t i = 0; i < kOfOne; ++i)
    if (depot::take(kSize, &s, 1, &error, 1) != 1) _exit(1);
  std::size_t skip, data;
  std::ifstream("/proc/self/statm") >> skip >> skip >> skip >> skip >> skip >> data;
  const rlimit limit{data * os::page_size(), data * os::page_size()};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) _exit(2);
  std::size_t n = 0;
  while (n < 10'000 && depot::take(kSize, &s, 1, &error, 0) == 1) ++n;
  _exit(n > 64 && n < 10'000 && error == ENOMEM ? 0 : 3);
}

TEST_F(DepotDeathTest, WhatANeighbourHasReadyCanBeHad) {
  if (kSanitized) GTEST_SKIP() << "memory cannot be limited under sanitizers";
  EXPECT_EXIT(exhaust_beside_a_neighbour(), testing::ExitedWithCode(0), "");
}

TEST_F(DepotDeathTest, AddressSpaceRunsOutWithAnError) {
  if (kSanitized) GTEST_SKIP() << "address space cannot be limited under sanitizers";
  EXPECT_EXIT(exhaust(RLIMIT_AS), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exhaust(RLIMIT_DATA), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace vole::rt
