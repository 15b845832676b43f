// cpp-httplib's Server on goroutines: idle keep-alive clients, and requests per second beside them and
// beside its own thread pool. httplib [idle clients [seconds]]

#include <httplib.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <vole/vole.h>

namespace {

class goroutine_queue : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override { tasks_.go(std::move(task)); }
  void shutdown() override { tasks_.wait(); }

 private:
  vole::wait_group tasks_;
};

void prepare(httplib::Server& server) {
  server.set_keep_alive_timeout(30);
  server.set_keep_alive_max_count(1'000'000);
  server.Get("/", [](const httplib::Request&, httplib::Response& r) {
    r.set_content("hello", "text/plain");
  });
}

// So many plain threads ask and ask; requests per second.
double ask(int port, int clients, double time) {
  std::atomic<bool> stop{false};
  std::atomic<long> count{0};
  std::vector<std::thread> all;
  for (int i = 0; i < clients; ++i) {
    all.emplace_back([&] {
      httplib::Client c("127.0.0.1", port);
      c.set_keep_alive(true);
      c.set_tcp_nodelay(true);
      while (!stop)
        if (c.Get("/")) ++count;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(time));
  stop = true;
  for (std::thread& each : all) each.join();
  return static_cast<double>(count) / time;
}

vole::net::conn idle_client(int port) {
  vole::net::conn c = vole::net::dial("tcp", "127.0.0.1:" + std::to_string(port));
  c.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
  char to[1000];
  if (c.read(to) == 0) std::abort();
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const int idle = argc > 1 ? std::atoi(argv[1]) : 1000;
  const double time = argc > 2 ? std::atof(argv[2]) : 2;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  {
    httplib::Server server;
    prepare(server);
    server.set_tcp_nodelay(true);
    const int port = server.bind_to_any_port("127.0.0.1");
    std::thread listening([&] { server.listen_after_bind(); });
    std::printf("its own thread pool, nobody idle: %.0f requests/s\n", ask(port, 4, time));
    server.stop();
    listening.join();
  }
  return vole::run([=] {
    httplib::Server server;
    prepare(server);
    server.set_tcp_nodelay(true);
    server.new_task_queue = [] { return new goroutine_queue; };
    const int port = server.bind_to_any_port("127.0.0.1");
    vole::go([&] { server.listen_after_bind(); });
    const auto asked = [&](const char* what) {
      std::atomic<double> rate{0};
      std::thread outside([&] { rate = ask(port, 4, time); });
      vole::sleep_for(std::chrono::milliseconds(static_cast<int>(time * 500)));
      const int threads = vole::stats().threads;
      vole::blocking([&] { outside.join(); });
      std::printf("goroutines, %s: %.0f requests/s, %d threads on %d procs\n", what, rate.load(),
                  threads, vole::max_procs());
    };
    asked("nobody idle");
    std::vector<vole::net::conn> clients;
    for (int i = 0; i < idle; ++i) clients.push_back(idle_client(port));
    asked((std::to_string(idle) + " idle clients").c_str());
    for (vole::net::conn& c : clients) c.close();
    std::fflush(stdout);
    std::_Exit(0);  // the server's goroutines are left as they are
    return 0;
  });
}
