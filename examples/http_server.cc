// HTTP server: keep-alive, limits, timeouts and graceful shutdown around the parser of
// http_request.h. `http_server 127.0.0.1:8080` serves until SIGTERM or Ctrl-C; without an address
// it asks itself a few questions.
// Teaches: a deadline per request; a context_callback that ends a read which io::reader waits in;
// a group that waits for every connection.

#include <vole/vole.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include "http_request.h"

namespace {
using namespace std::chrono_literals;

std::string answer(int status, const std::string& body, bool stays_open) {
  return "HTTP/1.1 " + std::to_string(status) + (status == 200 ? " OK" : " Refused") +
         "\r\nContent-Length: " + std::to_string(body.size()) +
         (stays_open ? "" : "\r\nConnection: close") + "\r\n\r\n" + body;
}

void serve(vole::net::conn c, const vole::context& ctx) {
  // At the end no more requests are read; the answer that is under way still goes out.
  const vole::context_callback stop(ctx, [&c] { c.close_read(); });
  vole::io::reader in(c);
  std::error_code error;
  for (bool stays_open = true; stays_open && !error;) {
    c.set_deadline(vole::now() + 10s);  // for the request and its answer
    http::request r;
    const int status = http::read_request(in, r, error);
    if (status == 0) return;
    stays_open = status == 200 && r.version == "HTTP/1.1" && r.headers["connection"] != "close";
    const std::string text = r.method + ", " + std::to_string(r.body.size()) + " bytes\n";
    if (status == 200 && r.path == "/hello")
      c.write(answer(200, text, stays_open), error);
    else
      c.write(answer(status == 200 ? 404 : status, "", stays_open), error);
  }
}

void listen(vole::net::listener& server, const vole::context& ctx) {
  vole::group connections(ctx);
  std::error_code error;
  while (!ctx.err())
    if (vole::net::conn c = server.accept(ctx, error))
      connections.go(serve, std::move(c), connections.context());
  connections.wait();
}

bool try_it(const std::string& at) {
  vole::net::conn c = vole::net::dial("tcp", at, 10s);
  c.write(
      "POST /hello HTTP/1.1\r\nHost: me\r\nContent-Length: 5\r\n\r\nhello"  // two at once
      "GET /nothing HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string got = vole::io::read_all(c);
  std::fputs(got.c_str(), stdout);
  c = vole::net::dial("tcp", at, 10s);
  c.write("GET /hello HTTP/1.1\r\n" + std::string(10000, 'x') + ": far too long\r\n\r\n");
  std::error_code error;  // after its answer it may reset the connection
  std::string refused(12, '\0');
  const bool is_431 = c.read_full(refused, error) == 12 && refused == "HTTP/1.1 431";
  return got.find("POST, 5 bytes\n") != got.npos && got.find(" 404 ") != got.npos && is_431;
}

}  // namespace

int main(int argc, char** argv) {
  return vole::run([&] {
    vole::cancelable stop = vole::signal_context(vole::context::background(), {SIGINT, SIGTERM});
    auto server = vole::net::listen("tcp", argc > 1 ? argv[1] : "127.0.0.1:0");
    auto serving = vole::spawn([&] { listen(server, stop.ctx); });
    if (argc > 1) return serving.join(), 0;
    const bool ok = try_it(server.local_address().to_string());
    stop.cancel();
    return serving.join(), ok ? 0 : 1;
  });
}
