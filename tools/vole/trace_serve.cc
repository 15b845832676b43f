// See trace_serve.h.
#include "trace_serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands.h"

namespace vole_command {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw refusal(std::string(what) + ": " + std::generic_category().message(errno));
}

std::string random_path() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) refuse("no random numbers");
  std::string path = "/";
  for (const unsigned char b : bytes) {
    path += "0123456789abcdef"[b >> 4];
    path += "0123456789abcdef"[b & 15];
  }
  return path + "/";
}

bool send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The request's first line, or nothing if there is no proper one.
std::string first_line(int connection) {
  std::string head;
  char buffer[2048];
  while (head.find("\r\n\r\n") == std::string::npos && head.size() < 16384) {
    const ssize_t n = recv(connection, buffer, sizeof buffer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    head.append(buffer, static_cast<size_t>(n));
  }
  return head.substr(0, head.find("\r\n"));
}

void reply(int connection, const char* status, const char* type, std::string_view body) {
  const std::string head = std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
                           "\r\nContent-Length: " + std::to_string(body.size()) +
                           "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                           "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n";
  if (send_all(connection, head)) send_all(connection, body);
}

}  // namespace

trace_server::trace_server(std::string page, std::string trace)
    : page_(std::move(page)), trace_(std::move(trace)), path_(random_path()) {
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) refuse("no socket");
  sockaddr_in here = {};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* const generic = reinterpret_cast<sockaddr*>(&here);
  if (bind(socket_, generic, size) != 0 || listen(socket_, 16) != 0 ||
      getsockname(socket_, generic, &size) != 0) {
    const int why = errno;
    close(socket_);
    errno = why;
    refuse("127.0.0.1 cannot be listened on");
  }
  address_ = "http://127.0.0.1:" + std::to_string(ntohs(here.sin_port)) + path_;
}

trace_server::~trace_server() { close(socket_); }

void trace_server::answer(int connection) const {
  const std::string line = first_line(connection);
  if (line == "GET " + path_ + " HTTP/1.1") {
    reply(connection, "200 OK", "text/html; charset=utf-8", page_);
  } else if (line == "GET " + path_ + "trace HTTP/1.1") {
    reply(connection, "200 OK", "application/octet-stream", trace_);
  } else if (!line.empty()) {
    reply(connection, "404 Not Found", "text/plain", "There is nothing here.\n");
  }
}

void trace_server::serve() {
  for (;;) {
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      refuse("connections cannot be accepted");
    }
    // Somebody who connects and says nothing does not keep others out for long.
    const timeval patience = {2, 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    answer(connection);
    shutdown(connection, SHUT_WR);
    close(connection);
  }
}

}  // namespace vole_command
