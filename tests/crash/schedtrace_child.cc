// Programs that are watched by schedtrace: stderr is a pipe into the program itself, which ends
// when it has read enough, and repeats on stdout what it read.

#include <vole/vole.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

// The first may have begun before the reader did, and the last is not all there.
constexpr int kPages = 4;

int stderr_into_pipe() {
  int ends[2];
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) std::_Exit(1);
  ::close(ends[1]);
  return ends[0];
}

// What was printed before.
void drain(int from) {
  const int flags = ::fcntl(from, F_GETFL);
  ::fcntl(from, F_SETFL, flags | O_NONBLOCK);
  for (char some[4096]; ::read(from, some, sizeof some) > 0;) {
  }
  ::fcntl(from, F_SETFL, flags);
}

int count(const std::string& text, const char* what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
  return n;
}

// Reads until enough(all that was read).
template <class Enough>
std::string read_until(int from, Enough enough) {
  std::string text;
  while (!enough(text)) {
    char some[4096];
    const ssize_t n = ::read(from, some, sizeof some);
    if (n <= 0) std::_Exit(1);
    text.append(some, static_cast<std::size_t>(n));
  }
  return text;
}

std::string read_pages(int from, int pages) {
  return read_until(from, [=](const std::string& text) { return count(text, "SCHED ") >= pages; });
}

// Four pages. With details, as many as it takes until a complete one shows every goroutine in its final
// state.
bool shows_all_settled(const std::string& text) {
  if (count(text, "SCHED ") < kPages) return false;
  const std::size_t next = text.rfind("SCHED ");
  const std::size_t begin = text.rfind("SCHED ", next - 1);
  const std::string page = text.substr(begin, next - begin);
  if (page.find("  G") == std::string::npos) return true;
  return count(page, "status=waiting(chan receive)") == 5 &&
         count(page, "status=waiting(sleep)") == 1 &&
         count(page, "status=waiting(wait group)") == 2 && count(page, "status=syscall()") == 1 &&
         count(page, "status=running()") == 1;
}

// Of everything something: five that wait, one that sleeps, one in blocking(), an endless loop, one
// locked to its thread.
int mixed() {
  const int from = stderr_into_pipe();
  std::string text;
  vole::run([&] {
    std::atomic<bool> stop{false};
    std::atomic<int> call{0};
    vole::chan<int> never;
    vole::wait_group gate, done;
    gate.add();
    for (int i = 0; i < 5; ++i) done.go([&] { (void)never.recv(); });
    done.go([&] {
      while (!stop) vole::sleep_for(std::chrono::hours(1));
    });
    done.go([&] { vole::blocking([&] { call.wait(0); }); });
    done.add();
    vole::go({.name = "locked"}, [&] {
      vole::lock_os_thread();
      gate.wait();
      done.done();
    });
    done.go([&] {
      while (!stop) std::this_thread::yield();
    });
    std::thread reader([&] {
      text = read_until(from, shows_all_settled);
      gate.done();
    });
    gate.wait();
    stop = true;
    call = 1;
    call.notify_one();
    never.close();
    reader.join();
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    std::_Exit(0);  // one sleeps for an hour
  });
  return 0;
}

// Everybody waits: what do the lines cost?
int idle() {
  const int from = stderr_into_pipe();
  std::string text;
  vole::run([&] {
    vole::wait_group gate;
    gate.add();
    std::thread reader([&] {
      text = read_pages(from, 2);
      rusage before{}, after{};
      ::getrusage(RUSAGE_SELF, &before);
      const auto begin = std::chrono::steady_clock::now();
      text += read_pages(from, 6);
      ::getrusage(RUSAGE_SELF, &after);
      const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
      const auto seconds = [](const rusage& r) {
        return static_cast<double>(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
               static_cast<double>(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
      };
      std::printf("share %.3f\n", (seconds(after) - seconds(before)) / wall.count());
      gate.done();
    });
    gate.wait();
    reader.join();
  });
  std::fputs(text.c_str(), stdout);
  return 0;
}

// More goroutines than a page has room for.
int crowd() {
  const int from = stderr_into_pipe();
  std::string text;
  vole::run([&] {
    vole::wait_group gate, there, done;
    gate.add();
    for (int i = 0; i < 8000; ++i) {
      there.add();
      done.go([&] {
        there.done();
        gate.wait();
      });
    }
    there.wait();
    std::thread reader([&] {
      drain(from);
      text = read_pages(from, kPages);
      ::close(from);  // or sysmon would wait for somebody who reads
      gate.done();
    });
    done.wait();
    reader.join();
  });
  std::fputs(text.c_str(), stdout);
  return 0;
}

constexpr scenario kAll[] = {{"mixed", mixed}, {"idle", idle}, {"crowd", crowd}};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
