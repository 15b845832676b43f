// TCP proxy: accepts connections, dials the real server, and copies both ways.
//
//     tcp_proxy 127.0.0.1:8080 example.org:80
//
// Teaches: io::copy moves bytes between two connections inside the kernel (splice); close_write()
// passes the end of one direction on and leaves the other open. Without arguments it tries itself.

#include <vole/vole.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace {

using namespace std::chrono_literals;

void copy_one_way(vole::net::conn& to, vole::net::conn& from) {
  std::error_code read_error, write_error;
  vole::io::copy(to, from, read_error, write_error);
  to.close_write();                    // the other side reads the end
  if (write_error) from.close_read();  // nobody wants the rest
}

void forward(vole::net::conn client, const std::string& to) {
  std::error_code error;
  vole::net::conn server = vole::net::dial("tcp", to, 5s, error);
  if (error) {
    std::fprintf(stderr, "%s: %s\n", to.c_str(), error.message().c_str());
    return;  // the client's connection is closed by its destructor
  }
  vole::wait_group both;
  both.go([&] { copy_one_way(server, client); });
  both.go([&] { copy_one_way(client, server); });
  both.wait();
}

void proxy(vole::net::listener& listener, const std::string& to) {
  vole::wait_group connections;
  std::error_code error;
  while (error != vole::errc::closed)
    if (vole::net::conn c = listener.accept(error))
      connections.go([c = std::move(c), &to]() mutable { forward(std::move(c), to); });
  connections.wait();
}

bool try_it() {
  auto server = vole::net::listen("tcp", "127.0.0.1:0");
  auto front = vole::net::listen("tcp", "127.0.0.1:0");
  const std::string to = server.local_address().to_string();
  auto proxying = vole::spawn([&] { proxy(front, to); });
  auto serving = vole::spawn([&] {  // answers with what it was sent, once all of it has come
    vole::net::conn c = server.accept();
    c.write(vole::io::read_all(c));
  });
  vole::net::conn c = vole::net::dial("tcp", front.local_address().to_string(), 5s);
  const std::string sent(1 << 20, 'v');
  c.write(sent);
  c.close_write();
  const bool same = vole::io::read_all(c) == sent;
  serving.join();
  front.close();
  proxying.join();
  std::printf("%zu bytes went there and back: %s\n", sent.size(), same ? "the same" : "changed");
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  return vole::run([&] {
    if (argc < 3) return try_it() ? 0 : 1;
    auto front = vole::net::listen("tcp", argv[1]);
    proxy(front, argv[2]);
    return 0;
  });
}
