// Events that could not be kept are counted in the file, never silent: who reads the trace stops
// reading, so the writer waits, and the goroutines fill all chunks there are.

#include <vole/vole.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"
#include "trace_file.h"

namespace {

using vole_test::scratch;
namespace trace = vole::trace;

// Reads a pipe to its end, once it may.
class reader {
 public:
  explicit reader(std::string path) : path_(std::move(path)) {}
  ~reader() { thread_.join(); }
  void go_on() {
    may_ = true;
    may_.notify_all();
  }
  const std::vector<std::uint8_t>& content() {
    done_.wait(false);
    return content_;
  }

 private:
  void read_all() {
    const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    may_.wait(false);
    std::uint8_t some[1 << 16];
    for (ssize_t n; (n = read(fd, some, sizeof some)) > 0;)
      content_.insert(content_.end(), some, some + n);
    close(fd);
    done_ = true;
    done_.notify_all();
  }

  const std::string path_;
  std::atomic<bool> may_{false}, done_{false};
  std::vector<std::uint8_t> content_;
  std::thread thread_{[this] { read_all(); }};
};

TEST(TraceLost, WhatCouldNotBeKeptIsCounted) {
  const scratch pipe("lost.pipe");
  ASSERT_EQ(mkfifo(pipe.path().c_str(), 0600), 0);
  reader from(pipe.path());
  trace::start(pipe.path());
  vole::run([] {
    const std::string text(4000, 'x');  // chunks for 64 MiB there are; this is more
    for (int i = 0; i < 25'000; ++i) trace::log("flood", text);
  });
  from.go_on();
  trace::stop();
  const std::vector<std::uint8_t>& content = from.content();
  vole_trace::trace_file file = vole_trace::read_file({content.data(), content.size()});
  std::uint64_t lost = 0, with_loss = 0;
  for (const vole_trace::generation& g : file.generations) {
    ASSERT_TRUE(g.end) << "generation " << g.number << " has no end";
    lost += g.end->lost;
    with_loss += g.end->lost != 0 ? 1 : 0;
  }
  EXPECT_GT(lost, 1000u);
  vole_trace::totals counted;
  std::uint64_t said = 0;
  for (const std::string& sentence : vole_trace::check(file, &counted)) {
    if (sentence.find("events were lost") != std::string::npos) {
      ++said;
    } else {
      ADD_FAILURE() << sentence;
    }
  }
  EXPECT_EQ(said, with_loss);
  EXPECT_EQ(counted.generations + with_loss, file.generations.size());
}

// More threads than the ring has slots, each with an event to write: what is copied can be read.
TEST(TraceLost, ARingWithFewerSlotsThanThreadsHasAnEnd) {
  const scratch file("few.trace");
  trace::record({.bytes = 1u << 20});
  vole::run([&] {
    constexpr int kThreads = 90;  // there are 64 slots
    vole::barrier all_at_once(kThreads);
    vole::wait_group gone;
    for (int i = 0; i < kThreads; ++i)
      gone.go([&] {
        vole::lock_os_thread();
        for (int k = 0; k < 20; ++k) all_at_once.arrive_and_wait();
      });
    for (int i = 0; i < 5; ++i) {
      trace::snapshot(file.path());
      vole_test::expect_good(file.path());
    }
    gone.wait();
    trace::snapshot(file.path());
    vole_test::expect_good(file.path());
  });
  trace::stop_recording();
}

}  // namespace
