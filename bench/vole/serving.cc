// Servers for a client outside: bench/servers.py. They serve until they are killed.

#include <array>
#include <cstddef>
#include <string_view>

#include <vole/vole.h>

#include "serving.h"

namespace bench {
namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nContent-Type: text/plain\r\n\r\nHello, World!";

void echo(vole::net::conn peer) {
  std::array<std::byte, 4096> buffer;
  std::error_code error;
  while (const std::size_t n = peer.read(std::span(buffer), error)) {
    peer.write(std::span<const std::byte>(buffer.data(), n), error);
    if (error) return;
  }
}

// As much of HTTP as every peer's program does: an answer whenever a request has ended.
void http(vole::net::conn peer) {
  std::array<char, 4096> buffer;
  std::size_t have = 0;
  std::error_code error;
  while (const std::size_t n = peer.read(std::span(buffer).subspan(have), error)) {
    have += n;
    if (!std::string_view(buffer.data(), have).ends_with("\r\n\r\n")) continue;
    peer.write(kAnswer, error);
    if (error) return;
    have = 0;
  }
}

int serve(const char* address, void (*handler)(vole::net::conn)) {
  vole::net::listener l = vole::net::listen("tcp", address);
  for (;;) vole::go(handler, l.accept());
}

}  // namespace

int serve(std::string_view name, const char* address) {
  return serve(address, name == "http" ? &http : &echo);
}

}  // namespace bench
