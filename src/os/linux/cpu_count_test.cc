#include "os/linux/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "os/os.h"

namespace vole::os::processors {
namespace {

namespace fs = std::filesystem;

// A root directory of our own with /proc/self and a cgroup tree.
class CpuCount : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/vole_cgroup_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const fs::path full = root_ + path;
    fs::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void v2(const std::string& own) {
    write("/proc/self/cgroup", "0::" + own + "\n");
    write("/proc/self/mountinfo",
          "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
          "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void v1(const std::string& own, const std::string& mounted = "/") {
    write("/proc/self/cgroup", "5:memory:/m\n4:cpuset:/c\n3:cpu,cpuacct:" + own + "\n0::/u\n");
    write("/proc/self/mountinfo",
          "33 22 0:30 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
          "34 22 0:31 " + mounted + " /cg/cpu rw master:9 - cgroup cgroup rw,cpu,cpuacct\n");
  }
  void v1_quota(const std::string& dir, const std::string& quota, const std::string& period) {
    write("/cg/cpu" + dir + "/cpu.cfs_quota_us", quota + "\n");
    write("/cg/cpu" + dir + "/cpu.cfs_period_us", period + "\n");
  }
  int limit() const { return in_cgroups(root_.c_str()); }

  std::string root_;
};

TEST_F(CpuCount, NoFilesMeansNoLimit) { EXPECT_EQ(limit(), 0); }

TEST_F(CpuCount, V2QuotaIsRoundedUp) {
  v2("/app");
  write("/sys/fs/cgroup/app/cpu.max", "250000 100000\n");
  EXPECT_EQ(limit(), 3);
  write("/sys/fs/cgroup/app/cpu.max", "300000 100000\n");
  EXPECT_EQ(limit(), 3);
  write("/sys/fs/cgroup/app/cpu.max", "1000 100000\n");
  EXPECT_EQ(limit(), 1);
}

TEST_F(CpuCount, V2MaxMeansNoLimit) {
  v2("/app");
  write("/sys/fs/cgroup/app/cpu.max", "max 100000\n");
  EXPECT_EQ(limit(), 0);
}

TEST_F(CpuCount, V2SmallerAncestorWins) {
  v2("/slice/app/part");
  write("/sys/fs/cgroup/slice/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/slice/app/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/slice/app/part/cpu.max", "900000 100000\n");
  EXPECT_EQ(limit(), 4);
  write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(limit(), 3);
  write("/sys/fs/cgroup/slice/app/part/cpu.max", "100000 50000\n");
  EXPECT_EQ(limit(), 2);
}

TEST_F(CpuCount, V2RootGroupOfANamespace) {
  v2("/");
  write("/sys/fs/cgroup/cpu.max", "500000 100000\n");
  EXPECT_EQ(limit(), 5);
  v2("/../elsewhere");
  EXPECT_EQ(limit(), 5);
}

TEST_F(CpuCount, GarbageDoesNotCount) {
  v2("/app");
  for (const char* text : {"", "\n", "x y\n", "-5 100000\n", "100000\n", "100000 0\n", "0 100000\n",
                           "99999999999999999999 1\n", "1e5 100000\n"}) {
    write("/sys/fs/cgroup/app/cpu.max", text);
    EXPECT_EQ(limit(), 0) << text;
  }
  write("/proc/self/cgroup", "nonsense\n\n0::no/slash\n::\n");
  EXPECT_EQ(limit(), 0);
  write("/proc/self/mountinfo", "short\n - cgroup2\n");
  write("/proc/self/cgroup", "0::/app\n");
  EXPECT_EQ(limit(), 0);
}

TEST_F(CpuCount, V1QuotaOfOwnGroupAndAncestors) {
  v1("/docker/abc");
  v1_quota("", "-1", "100000");
  v1_quota("/docker", "-1", "100000");
  v1_quota("/docker/abc", "150000", "50000");
  EXPECT_EQ(limit(), 3);
  v1_quota("/docker", "200000", "100000");
  EXPECT_EQ(limit(), 2);
}

TEST_F(CpuCount, V1MountOfOwnGroupHidesThePathAboveIt) {
  v1("/docker/abc", "/docker/abc");
  v1_quota("", "600000", "100000");
  EXPECT_EQ(limit(), 6);
  v1("/docker/abcdef", "/docker/abc");  // a different group with the same beginning
  EXPECT_EQ(limit(), 0);
}

TEST_F(CpuCount, BlanksInMountPointsAreEscaped) {
  write("/proc/self/cgroup", "0::/my\\app x\n");
  write("/proc/self/mountinfo", "30 22 0:26 / /a\\040b rw - cgroup2 none rw\n");
  write("/a b/my\\app x/cpu.max", "700000 100000\n");
  EXPECT_EQ(limit(), 7);
}

TEST_F(CpuCount, LongFilesAndLongLinesAreRead) {
  std::string mounts;
  for (int i = 0; i < 500; ++i)
    mounts += "99 22 0:99 / /mnt/" + std::to_string(i) + " rw - overlay o lower=" +
              std::string(i == 250 ? 20'000 : 100, 'x') + "\n";
  v2("/app");
  write("/proc/self/mountinfo", mounts + "30 22 0:26 / /cg rw - cgroup2 none rw");
  write("/cg/app/cpu.max", "400000 100000");
  EXPECT_EQ(limit(), 4);
}

TEST(Processors, QuotaBelowTwoStillAllowsTwo) {
  EXPECT_EQ(allowed(8, 0), 8);
  EXPECT_EQ(allowed(8, 1), 2);
  EXPECT_EQ(allowed(8, 3), 3);
  EXPECT_EQ(allowed(4, 9), 4);
  EXPECT_EQ(allowed(1, 1), 1);
}

TEST(Processors, AffinityOfOneCpuCountsOne) {
  int inside = 0;
  int counted = 0;
  std::thread([&] {
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_EQ(in_affinity(), CPU_COUNT(&now));
    int cpu = 0;
    while (!CPU_ISSET(cpu, &now)) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    inside = in_affinity();
    counted = cpu_count();
  }).join();
  EXPECT_EQ(inside, 1);
  EXPECT_EQ(counted, 1);
  EXPECT_GE(cpu_count(), 1);
}

}  // namespace
}  // namespace vole::os::processors
