// runtime.h: the knobs, the gauges and the dump.

#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "fixture.h"

namespace {

class RuntimeApi : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(RuntimeApi);

TEST_P(RuntimeApi, SetMaxProcsOutsideHoldsForTheNextRun) {  // [3]
  EXPECT_EQ(vole::max_procs(), procs());
  EXPECT_EQ(vole::set_max_procs(3), procs());
  EXPECT_EQ(vole::max_procs(), 3);
  vole::run([] {
    EXPECT_EQ(vole::max_procs(), 3);
    EXPECT_EQ(vole::stats().procs, 3);
  });
  EXPECT_EQ(vole::max_procs(), 3);
}

TEST_P(RuntimeApi, SetMaxProcsInsideGrowsAndShrinks) {  // [3] [33]
  run([this] {
    int last = procs();
    for (const int n : {1, 5, 2, 64, 1, 3}) {
      EXPECT_EQ(vole::set_max_procs(n), last);
      EXPECT_EQ(vole::max_procs(), n);
      last = n;
      vole::wait_group done;
      for (int i = 0; i < 100; ++i) done.go([] { vole::yield(); });
      done.wait();
    }
  });
}

TEST_P(RuntimeApi, RefusesBadNumbers) {
  const auto refuse = [] {
    for (const int n : {0, -1, -1000000, 1025, 1 << 30})
      EXPECT_THROW(vole::set_max_procs(n), std::invalid_argument) << n;
    EXPECT_THROW(vole::set_max_threads(0), std::invalid_argument);
    EXPECT_THROW(vole::set_max_threads(-5), std::invalid_argument);
  };
  refuse();
  run(refuse);
  EXPECT_EQ(vole::max_procs(), procs());
}

TEST_P(RuntimeApi, SetMaxThreadsReturnsThePrevious) {  // [2]
  const int had = vole::set_max_threads(500);
  EXPECT_EQ(had, 10000);
  run([] { EXPECT_EQ(vole::set_max_threads(500), 500); });
  EXPECT_EQ(vole::set_max_threads(had), 500);
}

TEST_P(RuntimeApi, AThousandAndTwentyFourPsStart) {  // [1]
  vole::set_max_procs(1024);
  vole::run([] {
    std::atomic<int> n{0};
    vole::wait_group done;
    for (int i = 0; i < 5000; ++i)
      done.go([&] {
        vole::yield();
        ++n;
      });
    done.wait();
    EXPECT_EQ(n, 5000);
    EXPECT_EQ(vole::stats().procs, 1024);
  });
}

TEST_P(RuntimeApi, StopsTheWorldUnderASpawnStorm) {  // [33]
  run([this] {
    std::atomic<bool> stop{false};
    std::atomic<long> started{0}, ended{0};
    vole::wait_group storms;
    for (int i = 0; i < procs() + 1; ++i)
      storms.go([&] {
        while (!stop) {
          vole::wait_group batch;
          for (int k = 0; k < 20; ++k) {
            ++started;
            batch.go([&] { ++ended; });
          }
          batch.wait();
        }
      });
    for (int i = 0; i < 100; ++i) {
      vole::set_max_procs(1 + i % 7);
      vole::yield();
    }
    stop = true;
    storms.wait();
    EXPECT_EQ(started, ended);
  });
}

TEST_P(RuntimeApi, PlainThreadsMaySetMaxProcsMeanwhile) {
  run([] {
    std::atomic<bool> stop{false};
    std::thread other([&] {
      for (int i = 0; !stop; ++i) vole::set_max_procs(1 + i % 5);
    });
    for (int i = 0; i < 2000; ++i) vole::spawn([] { vole::yield(); }).join();
    stop = true;
    other.join();
  });
}

TEST_P(RuntimeApi, GoroutineIdsAreUniqueAndZeroOutside) {  // [31]
  EXPECT_EQ(vole::goroutine_id(), 0u);
  std::set<std::uint64_t> ids;
  std::mutex m;
  const auto record = [&] {
    const std::uint64_t id = vole::goroutine_id();
    vole::yield();
    EXPECT_EQ(vole::goroutine_id(), id);
    const std::lock_guard hold(m);
    EXPECT_TRUE(ids.insert(id).second) << id << " twice";
  };
  run([&] {  // twice: ids are not reused by the next runtime either
    record();
    vole::wait_group done;
    for (int i = 0; i < 500; ++i) done.go(record);
    std::thread([&] {
      EXPECT_EQ(vole::goroutine_id(), 0u);
      for (int i = 0; i < 50; ++i) done.go(record);
    }).join();
    done.wait();
  });
  EXPECT_EQ(ids.size(), 2u * 551u);
  EXPECT_EQ(ids.count(0), 0u);
}

TEST_P(RuntimeApi, CountsGoroutines) {
  run([] {
    EXPECT_EQ(vole::num_goroutines(), 1u);
    vole::wait_group gate, done;
    gate.add();
    for (int i = 0; i < 100; ++i) done.go([&] { gate.wait(); });
    EXPECT_EQ(vole::num_goroutines(), 101u);
    gate.done();
    done.wait();
    while (vole::num_goroutines() > 1) vole::yield();
  });
}

TEST_P(RuntimeApi, StatsAddUp) {
  EXPECT_EQ(vole::stats().procs, 0);
  run([this] {
    vole::wait_group done;
    for (int i = 0; i < 1000; ++i) done.go([] { vole::yield(); });
    done.wait();
    while (vole::num_goroutines() > 1) vole::yield();
    const vole::runtime_stats s = vole::stats();
    EXPECT_EQ(s.procs, procs());
    EXPECT_EQ(s.goroutines, 1u);
    EXPECT_EQ(s.spawned, 1001u);
    EXPECT_EQ(s.finished, 1000u);
    EXPECT_GE(s.switches, 1001u);
    EXPECT_GE(s.stolen, s.steals);
    EXPECT_GE(s.idle_procs, 0);
    EXPECT_LT(s.idle_procs, procs());
    EXPECT_GE(s.threads, 1);
    EXPECT_LE(s.idle_threads, s.threads);
    EXPECT_GE(s.spinning_threads, 0);
    EXPECT_GE(s.stacks_in_use, 1u);
    EXPECT_EQ(s.global_queue + s.local_queues, 0u);
  });
}

std::string dumped() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = ::open_memstream(&text, &size);
  vole::dump_goroutines(out);
  std::fclose(out);
  std::string result(text, size);
  std::free(text);
  return result;
}

TEST_P(RuntimeApi, DumpNamesEveryGoroutineAndItsWait) {
  EXPECT_EQ(dumped(), "") << "no runtime";
  run([] {
    vole::wait_group gate, waiting, done;
    gate.add();
    waiting.add();
    done.add();
    std::uint64_t id = 0;
    vole::go({.name = "watchman"}, [&] {
      id = vole::goroutine_id();
      waiting.done();
      gate.wait();
      done.done();
    });
    waiting.wait();
    const std::string line = "goroutine " + std::to_string(id) + " (watchman) [";
    std::string text = dumped();
    while (text.find("wait group") == std::string::npos) {  // it may not have got there yet
      vole::yield();
      text = dumped();
    }
    EXPECT_NE(text.find(line + "waiting, wait group"), std::string::npos) << text;
    EXPECT_NE(text.find("(main) [running]"), std::string::npos) << text;  // it is we who look
    EXPECT_NE(text.find("created by goroutine " + std::to_string(vole::goroutine_id())),
              std::string::npos);
    EXPECT_NE(text.find("created by a plain thread"), std::string::npos);
    std::string from_a_thread;
    std::thread([&] { from_a_thread = dumped(); }).join();
    EXPECT_NE(from_a_thread.find(line), std::string::npos);
    gate.done();
    done.wait();
  });
}

TEST_P(RuntimeApi, NamesAreCutNotRefused) {
  run([] {
    vole::wait_group gate;
    gate.add();
    const std::string name(300, 'n');
    auto h = vole::spawn({.name = name.c_str()}, [&] { gate.wait(); });
    const std::string text = dumped();
    EXPECT_NE(text.find("(" + std::string(55, 'n') + ")"), std::string::npos) << text;
    gate.done();
    h.join();
  });
}

static_assert(std::is_aggregate_v<vole::go_options>);
constexpr vole::go_options kept_options{.name = "kept", .stack_size = 1 << 18};

// However it was started, and whatever the name was made of: the goroutine has a copy of it.
TEST_P(RuntimeApi, NamesComeFromAnyString) {
  run([] {
    vole::wait_group gate, all;
    gate.add();
    const auto wait = [&](int) { gate.wait(); };
    vole::group members;
    const int n = 7;
    vole::go_options reused;
    {
      const std::string gone = "options made of a string that is gone " + std::to_string(n);
      reused = {.name = gone};
    }
    all.go(reused, wait, 1);
    all.go({.name = std::string("wait_group::go with a temporary ") + std::to_string(n)}, wait, 1);
    all.go(kept_options, [&] { gate.wait(); });
    members.go({.name = "group::go " + std::to_string(n)}, wait, 1);
    EXPECT_TRUE(members.try_go({.name = std::string_view("try_go, and more").substr(0, 6)}, wait, 1));
    const char* const none = nullptr;
    all.go({.name = none}, wait, 1);
    all.go({.stack_size = 1 << 20}, wait, 1);
    auto h = vole::spawn({.name = std::string("spawn\0cut", 9)}, wait, 1);
    const std::string text = dumped();
    for (const char* const name :
         {"options made of a string that is gone 7", "wait_group::go with a temporary 7", "kept",
          "group::go 7", "try_go", "spawn"})
      EXPECT_NE(text.find("(" + std::string(name) + ") ["), std::string::npos) << name << text;
    EXPECT_EQ(text.find(" () ["), std::string::npos) << "no name is no name" << text;
    gate.done();
    all.wait();
    members.wait();
    h.join();
  });
}

TEST_P(RuntimeApi, AllPsRunAtOnce) {
  run([this] {
    // Each says that it runs and spins without entering the runtime until all have said so.
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> running{0};
      vole::wait_group done;
      for (int i = 0; i < procs(); ++i)
        done.go([&] {
          ++running;
          while (running < procs()) std::this_thread::yield();
        });
      done.wait();
    }
  });
}

}  // namespace
