// vole/trace.h: each call, its errors, and that what it writes can be read.

#include <vole/vole.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "fixture.h"
#include "trace/event.h"
#include "trace/recover.h"
#include "trace_file.h"

namespace {

using namespace std::chrono_literals;
using vole_test::expect_good;
using vole_test::scratch;
namespace trace = vole::trace;

class Trace : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, Trace, testing::Values(1, 2, 4), vole_test::procs_name);

// Something of everything that a scheduler does.
void work() {
  vole::chan<int> values, done;
  const auto producer = vole::spawn([=] {
    for (int i = 0; i < 300; ++i) values.send(i);
    values.close();
    done.send(1);
  });
  const auto consumer = vole::spawn([=] {
    const trace::region r("consume values");
    while (values.recv()) vole::yield();
    done.send(1);
  });
  const auto sleeper = vole::spawn(vole::go_options{.name = "the sleeper"}, [=] {
    for (int i = 0; i < 3; ++i) vole::sleep_for(200us);
    done.send(1);
  });
  const auto worker = vole::spawn([=] {
    const trace::task job("a job");
    job.log("progress", "half way");
    vole::blocking([] { std::this_thread::sleep_for(300us); });
    done.send(1);
  });
  for (int i = 0; i < 4; ++i) done.recv();
}

TEST_P(Trace, AFileCanBeRead) {
  const scratch file("file.trace");
  run([&] {
    trace::start(file.path());
    EXPECT_TRUE(trace::active());
    work();
    trace::stop();
    EXPECT_FALSE(trace::active());
  });
  EXPECT_GT(expect_good(file.path()).events, 900u);
  const std::string text = vole_test::content_of(file.path());
  for (const char* const said : {"consume values", "the sleeper", "a job", "progress", "half way",
                                 "chan receive", "trace_test.cc"})
    EXPECT_NE(text.find(said), std::string::npos) << said;
}

TEST_P(Trace, GoesOnFromOneRuntimeToTheNext) {
  const scratch file("runs.trace");
  trace::start(file.path());
  for (int i = 0; i < 3; ++i) vole::run([] { work(); });
  trace::log("between", "runtimes");
  vole::run([] { work(); });
  trace::stop();
  const vole_trace::totals counted = expect_good(file.path());
  EXPECT_GT(counted.events, 4 * 900u);
  EXPECT_GE(counted.generations, 4u);
  expect_clean();
}

TEST_P(Trace, BeginsAndEndsOnAnyThread) {
  const scratch file("any.trace");
  run([&] {
    vole::wait_group busy;
    std::atomic<bool> over{false};
    for (int i = 0; i < 3; ++i)
      busy.go([&] {
        while (!over) work();
      });
    for (int i = 0; i < 4; ++i) {
      if (i % 2 == 0) {
        vole::blocking([&] { std::thread([&] { trace::start(file.path()); }).join(); });
        trace::stop();
      } else {
        trace::start(file.path());
        vole::yield();
        vole::blocking([&] { std::thread([] { trace::stop(); }).join(); });
      }
      expect_good(file.path());
    }
    over = true;
    busy.wait();
  });
}

TEST_P(Trace, TheRecorderKeepsTheLatest) {
  const scratch first("first.trace"), second("second.trace");
  run([&] {
    trace::record({.bytes = 2u << 20});
    EXPECT_TRUE(trace::active());
    work();
    trace::snapshot(first.path());
    for (int i = 0; i < 20; ++i) work();
    trace::snapshot(second.path());
    trace::stop_recording();
    EXPECT_FALSE(trace::active());
  });
  EXPECT_GT(expect_good(first.path()).events, 900u);
  EXPECT_GT(expect_good(second.path()).events, 10'000u);
}

// More than the ring holds: what is left is whole.
TEST_P(Trace, TheRecorderForgetsTheOldest) {
  const scratch file("small.trace");
  run([&] {
    trace::record({.bytes = 1u << 20});
    for (int i = 0; i < 150; ++i) work();
    trace::snapshot(file.path());
    trace::stop_recording();
  });
  expect_good(file.path());
  EXPECT_LT(std::filesystem::file_size(file.path()), 3u << 20);
}

TEST_P(Trace, ARingInAFileCanBeRecovered) {
  const scratch ring("ring"), file("recovered.trace");
  run([&] {
    trace::record({.bytes = 2u << 20, .ring = ring.path()});
    for (int i = 0; i < 10; ++i) work();
    const std::vector<std::uint8_t> now = vole_trace::load(ring.path());  // as if we had died
    const vole_trace::recovered r = vole_trace::recover({now.data(), now.size()});
    EXPECT_GT(r.events, 1000u);
    for (const std::string& why : r.left_out) EXPECT_TRUE(why.empty()) << why;
    std::ofstream(file.path(), std::ios::binary) << r.file;
    trace::stop_recording();
  });
  expect_good(file.path());
}

TEST_P(Trace, MisuseIsToldApartFromFailure) {
  const scratch file("errors.trace");
  std::error_code error;
  EXPECT_THROW(trace::stop(), std::logic_error);
  EXPECT_THROW(trace::stop_recording(), std::logic_error);
  EXPECT_THROW(trace::snapshot(file.path()), std::logic_error);
  EXPECT_THROW(trace::start("/nowhere/at/all"), std::system_error);
  EXPECT_THROW(trace::record({.ring = "/nowhere/at/all"}), std::system_error);
  EXPECT_THROW(trace::record({.bytes = 100}), std::invalid_argument);
  EXPECT_THROW(trace::record({.window = 0ns}), std::invalid_argument);
  trace::stop(error);
  EXPECT_EQ(error, std::errc::no_such_process);
  trace::start("/nowhere/at/all", error);
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  trace::start(file.path());
  EXPECT_THROW(trace::start(file.path() + "2"), std::logic_error);
  EXPECT_THROW(trace::record(), std::logic_error);
  EXPECT_FALSE(std::filesystem::exists(file.path() + "2"));
  trace::start(file.path(), error);
  EXPECT_EQ(error, std::errc::device_or_resource_busy);
  trace::stop(error);
  EXPECT_FALSE(error) << error.message();
  expect_good(file.path());
}

TEST_P(Trace, AFullDiskEndsTheTraceNotTheProgram) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  testing::internal::CaptureStderr();
  std::error_code error;
  vole::run([&] {
    trace::start("/dev/full");
    work();
    trace::stop(error);
  });
  EXPECT_EQ(error, std::errc::no_space_on_device);
  (void)testing::internal::GetCapturedStderr();
  expect_clean();
}

// ── a trace with one event less ──

template <class T>
void store(std::vector<std::uint8_t>& in, std::uint64_t at, T value) {
  std::memcpy(in.data() + at, &value, sizeof value);
}
template <class T>
T fetch(const std::vector<std::uint8_t>& in, std::uint64_t at) {
  T value;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}
void checksum(std::vector<std::uint8_t>& in, std::uint64_t chunk) {
  const auto size = fetch<std::uint32_t>(in, chunk + 4);
  store(in, chunk + 44, vole_trace::crc32({in.data() + chunk + vole_trace::kChunkHeader, size}));
}

// The bytes [from, to), an event of a thread's only chunk, are taken out.
std::vector<std::uint8_t> without(const std::vector<std::uint8_t>& whole,
                                  const vole_trace::chunk& c, std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint8_t> less(whole);
  less.erase(less.begin() + static_cast<long>(from), less.begin() + static_cast<long>(to));
  store(less, c.at + 4, static_cast<std::uint32_t>(c.size - (to - from)));
  store(less, c.at + 40, c.events - 1);
  checksum(less, c.at);
  return less;
}

// The end of the only generation says one event less of that thread.
void lower_end(std::vector<std::uint8_t>& file, std::uint32_t thread) {
  for (std::uint64_t at = vole_trace::kFileHeader; at < file.size();) {
    const auto size = fetch<std::uint32_t>(file, at + 4);
    if (fetch<std::uint16_t>(file, at + 16) == vole_trace::kEnd) {
      std::uint64_t p = at + vole_trace::kChunkHeader;
      const auto skip = [&] {
        std::uint64_t n = 0;
        for (int shift = 0;; shift += 7) {
          const std::uint8_t b = file[p++];
          n |= std::uint64_t{b & 127u} << shift;
          if (b < 128) return n;
        }
      };
      skip(), skip(), skip();
      for (std::uint64_t n = skip(); n > 0; --n) {
        const bool is_it = skip() == thread;
        const std::uint64_t first = p;
        skip();
        if (is_it) {
          // A number minus one, in as many bytes.
          std::uint64_t i = first;
          while ((file[i] & 127) == 0) file[i++] |= 127;
          --file[i];
        }
        skip();
      }
      return checksum(file, at);
    }
    at += vole_trace::kChunkHeader + size;
  }
}

// Whatever counts events is made right again: only what they say can tell.
TEST_P(Trace, OneEventLessIsNoticed) {
  const scratch file("whole.trace");
  vole::run([&] {
    trace::start(file.path());
    work();
    trace::stop();
  });
  const std::vector<std::uint8_t> whole = vole_trace::load(file.path());
  const vole_trace::trace_file read = vole_trace::read_file({whole.data(), whole.size()});
  ASSERT_EQ(read.generations.size(), 1u);
  int tried = 0;
  for (const auto& [thread, chunks] : read.generations[0].threads) {
    if (chunks.size() != 1) continue;
    vole_trace::event_reader events({whole.data(), whole.size()}, &chunks);
    vole_trace::event e;
    for (int nth = 0; events.next(e) && tried < 60; ++nth) {
      const bool matters = e.type == vole_trace::kGUnblock || e.type == vole_trace::kGRun ||
                           e.type == vole_trace::kGCreate || e.type == vole_trace::kBlockRun ||
                           e.type == vole_trace::kYieldRun || e.type == vole_trace::kGBlock;
      if (!matters || nth % 5 != 0) continue;
      ++tried;
      std::vector<std::uint8_t> less = without(whole, chunks[0], events.position(), events.after());
      lower_end(less, thread);
      EXPECT_FALSE(vole_trace::check({less.data(), less.size()}).empty())
          << "without event " << nth << " of thread " << thread << ", type " << int{e.type};
    }
  }
  EXPECT_GT(tried, 0);
}

}  // namespace
