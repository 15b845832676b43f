// GET in a loop on many connections to a Redis server, thousand/s, in turn: hiredis on goroutines with
// hooks; a client on vole::net that writes and parses as hiredis does, and one that sends a constant and
// parses nothing; hiredis on a thread for each connection.
// redis [connections [seconds]] SOCKET. The unhooked figure is that of the same program without
// vole::hooks.

#include <hiredis/hiredis.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <vole/vole.h>

namespace {

using seconds = std::chrono::duration<double>;

void get_by_hiredis(const char* where, const std::atomic<bool>& stop, std::atomic<long>& count) {
  redisContext* const c = redisConnectUnix(where);
  while (!stop.load(std::memory_order_relaxed)) {
    void* const reply = redisCommand(c, "GET vole");
    if (reply == nullptr) std::abort();
    freeReplyObject(reply);
    count.fetch_add(1, std::memory_order_relaxed);
  }
  redisFree(c);
}

void get_by_net(const char* where, const std::atomic<bool>& stop, std::atomic<long>& count) {
  vole::net::conn c = vole::net::dial("unix", where);
  static const char kAsk[] = "*2\r\n$3\r\nGET\r\n$4\r\nvole\r\n";
  char to[512];
  while (!stop.load(std::memory_order_relaxed)) {
    c.write(std::string_view(kAsk));
    std::size_t n = 0;
    do n += c.read(std::span(to).subspan(n));
    while (n < 2 || to[n - 1] != '\n');
    count.fetch_add(1, std::memory_order_relaxed);
  }
}

// The same work as hiredis does: its own writer of commands and reader of replies, over vole::net.
void get_by_net_as_hiredis(const char* where, const std::atomic<bool>& stop,
                           std::atomic<long>& count) {
  vole::net::conn c = vole::net::dial("unix", where);
  redisReader* const reader = redisReaderCreate();
  char to[16 * 1024];  // as hiredis has it
  while (!stop.load(std::memory_order_relaxed)) {
    char* ask = nullptr;
    const int n = redisFormatCommand(&ask, "GET vole");
    c.write(std::string_view(ask, static_cast<std::size_t>(n)));
    redisFreeCommand(ask);
    void* reply = nullptr;
    while (reply == nullptr) {
      redisReaderFeed(reader, to, c.read(to));
      if (redisReaderGetReply(reader, &reply) != REDIS_OK) std::abort();
    }
    freeReplyObject(reply);
    count.fetch_add(1, std::memory_order_relaxed);
  }
  redisReaderFree(reader);
}

// Processor time of this process, which load on the machine changes less than the clock on the wall.
double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

template <class Get>
void on_goroutines(const char* what, int n, double time, const char* where, Get get) {
  std::atomic<bool> stop{false};
  std::atomic<long> count{0};
  vole::wait_group all;
  for (int i = 0; i < n; ++i) all.go([&] { get(where, stop, count); });
  vole::sleep_for(std::chrono::milliseconds(300));
  const long before = count.load();
  const double cpu = cpu_seconds();
  const auto t = std::chrono::steady_clock::now();
  vole::sleep_for(std::chrono::milliseconds(static_cast<int>(time * 1000)));
  const auto n_done = static_cast<double>(count.load() - before);
  const double rate = n_done / seconds(std::chrono::steady_clock::now() - t).count();
  const double us = (cpu_seconds() - cpu) * 1e6 / n_done;
  const int threads = vole::stats().threads;
  stop = true;
  all.wait();
  std::printf("%-34s %6.1f thousand/s, %5.2f us of CPU each, %d threads\n", what, rate / 1000, us,
              threads);
}

void on_threads(int n, double time, const char* where) {
  std::atomic<bool> stop{false};
  std::atomic<long> count{0};
  std::vector<std::thread> all;
  for (int i = 0; i < n; ++i) all.emplace_back([&] { get_by_hiredis(where, stop, count); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const long before = count.load();
  const double cpu = cpu_seconds();
  const auto t = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(seconds(time));
  const auto n_done = static_cast<double>(count.load() - before);
  const double rate = n_done / seconds(std::chrono::steady_clock::now() - t).count();
  const double us = (cpu_seconds() - cpu) * 1e6 / n_done;
  stop = true;
  for (std::thread& each : all) each.join();
  std::printf("%-34s %6.1f thousand/s, %5.2f us of CPU each, %d threads\n",
              "hiredis, a thread each", rate / 1000, us, n);
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 2 ? std::atoi(argv[1]) : 100;
  const double time = argc > 3 ? std::atof(argv[2]) : 1;
  const char* const where = argv[argc - 1];
  redisContext* const c = redisConnectUnix(where);
  freeReplyObject(redisCommand(c, "SET vole 0123456789abcdef"));
  redisFree(c);
  for (int round = 0; round < 7; ++round) {
    vole::run([=] { on_goroutines("hiredis, goroutines", n, time, where, get_by_hiredis); });
    vole::run([=] {
      on_goroutines("vole::net+parser, goroutines", n, time, where, get_by_net_as_hiredis);
    });
    vole::run([=] { on_goroutines("vole::net, goroutines", n, time, where, get_by_net); });
    on_threads(n, time, where);
  }
}
