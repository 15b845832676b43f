// An echo server, and a thousand clients to try it. Given an address as its argument
// ("127.0.0.1:7000", ":7000") it serves there until it is stopped.

#include <vole/vole.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>

namespace {

using namespace std::chrono_literals;

void echo(vole::net::conn c) {
  std::array<char, 4096> text;
  std::error_code error;
  for (;;) {
    c.set_read_deadline(vole::now() + 30s);  // a client that says nothing for long is let go
    const std::size_t n = c.read(text, error);
    if (n == 0 || c.write({text.data(), n}, error) != n) return;
  }
}

void serve(vole::net::listener& server) {
  vole::wait_group connections;
  std::error_code error;
  while (error != vole::errc::closed)
    if (vole::net::conn c = server.accept(error))
      connections.go([c = std::move(c)]() mutable { echo(std::move(c)); });
  connections.wait();
}

bool ask(const std::string& at, int i) {
  vole::net::conn c = vole::net::dial("tcp", at, 10s);
  const std::string question = "this is client " + std::to_string(i);
  c.write(question);
  c.close_write();
  std::string answer(question.size(), '\0');
  return c.read_full(answer) == question.size() && answer == question;
}

int try_it() {
  constexpr int kClients = 1000;
  vole::net::listener server = vole::net::listen("tcp", "127.0.0.1:0");
  const std::string at = server.local_address().to_string();
  auto serving = vole::spawn([&] { serve(server); });
  std::atomic<int> answered{0};
  vole::wait_group clients;
  vole::semaphore at_a_time(100);
  for (int i = 0; i < kClients; ++i)
    clients.go([&, i] {
      at_a_time.acquire();
      answered += ask(at, i) ? 1 : 0;
      at_a_time.release();
    });
  clients.wait();
  server.close();  // accept() returns, and serve() with it
  serving.join();
  std::printf("%d of %d clients were answered\n", answered.load(), kClients);
  return answered == kClients ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return vole::run([&] {
    if (argc < 2) return try_it();
    vole::net::listener server = vole::net::listen("tcp", argv[1]);
    std::printf("listening on %s\n", server.local_address().to_string().c_str());
    std::fflush(stdout);
    serve(server);
    return 0;
  });
}
