// cpp-httplib, as it is: an HTTP server whose connections are goroutines.
//
// Teaches: httplib asks a task queue to run each connection, and waits in it for requests; a queue
// that starts goroutines, and vole::hooks, turn its thread pool into thousands of idle connections on
// a handful of threads. Built where libcpp-httplib-dev is installed.

#include <vole/vole.h>

#include <httplib.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace {

// Each task is a goroutine.
class goroutine_queue : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> task) override { tasks_.go(std::move(task)); }
  void shutdown() override { tasks_.wait(); }

 private:
  vole::wait_group tasks_;
};

bool ask(int port, int who) {
  httplib::Client client("127.0.0.1",
                         port);  // its own: a Client keeps a lock that belongs to a thread
  client.set_keep_alive(true);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Get("/hello?who=" + std::to_string(who));
    if (!answer || answer->body != "hello " + std::to_string(who)) return false;
  }
  return true;
}

}  // namespace

int main() {
  return vole::run([] {
    httplib::Server server;
    server.new_task_queue = [] { return new goroutine_queue; };
    server.set_keep_alive_timeout(1);
    server.Get("/hello", [](const httplib::Request& request, httplib::Response& response) {
      vole::sleep_for(std::chrono::milliseconds(10));  // as slow as a database
      response.set_content("hello " + request.get_param_value("who"), "text/plain");
    });
    const int port = server.bind_to_any_port("127.0.0.1");
    vole::wait_group listening;
    listening.go([&] { server.listen_after_bind(); });

    constexpr int kClients = 20;  // httplib lets five wait to be accepted
    vole::wait_group clients;
    vole::mutex lock;
    int right = 0;
    for (int i = 0; i < kClients; ++i) {
      clients.go([&, i] {
        if (!ask(port, i)) return;
        const std::lock_guard hold(lock);
        ++right;
      });
    }
    clients.wait();
    std::printf("%d of %d clients were served, %d threads\n", right, kClients,
                vole::stats().threads);
    server.stop();
    listening.wait();
    return right == kClients ? 0 : 1;
  });
}
