// The tour: what vole does, live, in a few seconds. `make run` builds and starts it.
//
// A million goroutines; a web server that goes on answering while its handlers loop or block,
// beside the same server on a pool of threads; what the scheduler did meanwhile. `tour FILE` also
// writes an execution trace of the server's last run to that file.

#include <vole/vole.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

#if defined(VOLE_SANITIZE_ADDRESS) || defined(VOLE_SANITIZE_THREAD)
constexpr int kMany = 20'000, kParked = 2'000;  // a sanitizer makes everything dear
#else
constexpr int kMany = 1'000'000, kParked = 100'000;
#endif
constexpr int kRequests = 40;
constexpr auto kBusy = 400ms, kEvery = 8ms;

double ms_since(steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
}

void must(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "tour: this is not so: %s\n", what);
  std::exit(1);
}

// Starts `n` goroutines that wait on `gate`; returns when they do.
void park(int n, const vole::chan<>& gate, vole::wait_group& gone) {
  vole::wait_group there;
  there.add(n);
  for (int i = 0; i < n; ++i)
    gone.go([&there, gate] {
      there.done();
      gate.recv();
    });
  there.wait();
  for (vole::runtime_stats s; s = vole::stats(), s.local_queues + s.global_queue > 0;)
    vole::yield();
}

// ── goroutines by the million ─────────────────────────────────────────────────────────────

void many() {
  std::atomic<int> ran{0};
  vole::wait_group all;
  auto start = steady_clock::now();
  for (int i = 0; i < kMany; ++i) all.go([&] { ran.fetch_add(1, std::memory_order_relaxed); });
  all.wait();
  const double ms = ms_since(start);
  must(ran == kMany, "every goroutine ran exactly once");
  std::printf("   %9d started, run and waited for   %5.0f ms, %.0f ns each\n", kMany, ms,
              ms * 1e6 / kMany);

  const vole::chan<> gate;
  vole::wait_group gone;
  park(kParked, gate, gone);
  start = steady_clock::now();
  gate.close();
  gone.wait();
  std::printf("   %9d wait on one channel; its close wakes them all   %.0f ms\n\n", kParked,
              ms_since(start));
}

// ── a web server, twice ───────────────────────────────────────────────────────────────────

// The work of both servers for a request. Two of the three kinds never yield.
void handle(std::string_view request) {
  const vole::trace::region shown(request.substr(0, request.find(" HTTP/")));  // in the trace
  if (request.starts_with("GET /loop "))
    for (const auto end = steady_clock::now() + kBusy; steady_clock::now() < end;) {
    }
  if (request.starts_with("GET /library ")) ::usleep(kBusy / 1us);  // a call that blocks its thread
}

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";

int listening_socket(sockaddr_in& at) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t size = sizeof at;
  at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  must(bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0 && listen(fd, 128) == 0 &&
           getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) == 0,
       "a port is free on 127.0.0.1");
  return fd;
}

// A plain thread sends one request, and says how many ms after `due` the answer was there.
double ask(const sockaddr_in& at, std::string_view path, steady_clock::time_point due) {
  std::this_thread::sleep_until(due);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  must(connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "the server is there");
  const std::string request = "GET " + std::string(path) + " HTTP/1.1\r\nHost: tour\r\n\r\n";
  must(write(fd, request.data(), request.size()) == ssize_t(request.size()), "a request is sent");
  std::array<char, 512> buffer;
  std::size_t got = 0;
  for (ssize_t n; (n = read(fd, buffer.data() + got, buffer.size() - got)) > 0;)
    got += std::size_t(n);
  close(fd);
  must(std::string_view(buffer.data(), got) == kAnswer, "every request is answered");
  return ms_since(due);
}

using paths = std::vector<std::string>;
using latencies = std::array<double, kRequests>;

// The slow requests at once, then a quick one every few milliseconds: how late are the quick ones?
latencies load(const sockaddr_in& at, const paths& slow) {
  latencies late{};
  std::vector<std::thread> clients;
  auto due = steady_clock::now();
  for (const std::string& path : slow)
    clients.emplace_back([&at, &path, due] { ask(at, path, due); });
  due += 20ms;
  for (double& each : late)
    clients.emplace_back([&each, at, due = due += kEvery] { each = ask(at, "/", due); });
  for (std::thread& c : clients) c.join();
  std::sort(late.begin(), late.end());
  return late;
}

// One worker thread for each of vole's Ps: each accepts, handles, answers.
latencies on_threads(const paths& slow, int workers) {
  sockaddr_in at;
  const int fd = listening_socket(at);
  std::vector<std::thread> pool;
  for (int i = 0; i < workers; ++i)
    pool.emplace_back([fd] {
      for (int c; (c = accept4(fd, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; close(c)) {
        std::array<char, 512> buffer;
        const ssize_t n = read(c, buffer.data(), buffer.size());
        handle({buffer.data(), std::size_t(std::max<ssize_t>(n, 0))});
        must(write(c, kAnswer.data(), kAnswer.size()) == ssize_t(kAnswer.size()), "it is sent");
      }
    });
  const auto late = load(at, slow);
  shutdown(fd, SHUT_RDWR);  // ends every accept
  for (std::thread& t : pool) t.join();
  close(fd);
  return late;
}

// A goroutine for each connection.
latencies on_vole(const paths& slow) {
  sockaddr_in at;
  vole::net::listener l(listening_socket(at));
  vole::wait_group served;
  served.go([&] {
    for (std::error_code ended; ended != vole::errc::closed;) {
      vole::net::conn accepted = l.accept(ended);
      if (!accepted) continue;
      served.go(
          {.name = "client"},
          [](vole::net::conn c) {
            std::array<char, 512> buffer;
            std::error_code gone;  // a client may reset the connection at any time
            handle({buffer.data(), c.read(buffer, gone)});
            c.write(kAnswer, gone);
          },
          std::move(accepted));
    }
  });
  const auto late = vole::blocking([&] { return load(at, slow); });
  l.close();
  served.wait();
  return late;
}

void print_row(const char* what, const latencies& threads, const latencies& ours) {
  std::printf("   %-29s", what);
  for (const latencies* late : {&threads, &ours})
    std::printf("%7.1f%7.1f%7.1f   ", (*late)[kRequests / 2], (*late)[kRequests * 9 / 10],
                late->back());
  std::printf("\n");
}

void servers(const char* trace_file) {
  const int workers = vole::max_procs();
  std::printf(
      "   Quick requests, one every %d ms. How many ms until the answer:\n\n"
      "   %-29s%d threads in a pool       vole with max_procs() %d\n"
      "   meanwhile                        p50    p90    max       p50    p90    max\n",
      int(kEvery / 1ms), "", workers, workers);
  const std::size_t each = std::size_t(workers), half = (each + 1) / 2;
  paths mixed(half, "/loop");
  mixed.resize(std::max(each, half + 1), "/library");
  const std::string n = std::to_string(workers);
  print_row("nothing else happens", on_threads({}, workers), on_vole({}));
  print_row((n + " handlers loop").c_str(), on_threads(paths(each, "/loop"), workers),
            on_vole(paths(each, "/loop")));
  print_row((n + " block in a library").c_str(), on_threads(paths(each, "/library"), workers),
            on_vole(paths(each, "/library")));
  const latencies threads = on_threads(mixed, workers);
  if (trace_file != nullptr) vole::trace::start(trace_file);
  const latencies ours = on_vole(mixed);
  if (trace_file != nullptr) vole::trace::stop();
  print_row("some loop, some block", threads, ours);
  std::printf("\n");
}

// ── what the scheduler did ────────────────────────────────────────────────────────────────

void look_inside() {
  using count = unsigned long long;
  const vole::runtime_stats s = vole::stats();
  std::printf(
      "   goroutines started: %llu; switches: %llu; steals: %llu\n"
      "   Ps taken from loops and blocked calls: %llu; stacks kept for reuse: %zu\n\n",
      count{s.spawned}, count{s.switches}, count{s.steals}, count{s.evictions}, s.stacks_free);
  vole::wait_group gone;
  const vole::chan<> gate;
  park(1000, gate, gone);
  std::printf(
      "   A dump, while 1000 goroutines wait (a thousand that do the same are one block):\n\n");
  vole::dump_goroutines(stdout);
  gate.close();
  gone.wait();
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return vole::run([&] {
    std::printf("vole: Go's goroutines for C++\n\n1. Goroutines are cheap.\n");
    many();
    std::printf(
        "2. What loops or blocks stops nobody. The same web server on threads and on vole:\n");
    servers(argc > 1 ? argv[1] : nullptr);
    std::printf("3. You can look inside.\n");
    look_inside();
  });
}
