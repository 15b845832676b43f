// A small parser for HTTP/1.1 requests, for http_server.cc. It reads what a stranger sends, so each
// line, the number of headers and the body have a limit.
#pragma once

#include <vole/vole.h>

#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <system_error>

namespace http {

constexpr std::size_t kMaxLine = 8192, kMaxHeaders = 64, kMaxBody = 1 << 20;

struct request {
  std::string method, path, version, body;
  std::map<std::string, std::string> headers;  // names in small letters
};

// "Name: value" into headers; a name that comes again gets "first, second".
inline bool parse_header(const std::string& line, request& r) {
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos || colon == 0) return false;
  std::string name = line.substr(0, colon);
  for (char& c : name) {
    if (c <= ' ' || c >= 127) return false;
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const std::size_t first = line.find_first_not_of(" \t", colon + 1);
  const std::size_t last = line.find_last_not_of(" \t");
  const std::string value = first == std::string::npos ? "" : line.substr(first, last - first + 1);
  const auto [at, is_new] = r.headers.try_emplace(name, value);
  if (!is_new) at->second += ", " + value;
  return true;
}

// The length that the headers announce. False: that is no number.
inline bool body_size(const request& r, std::size_t& size) {
  const auto header = r.headers.find("content-length");
  size = 0;
  if (header == r.headers.end()) return true;
  const char *const begin = header->second.data(), *const end = begin + header->second.size();
  const std::from_chars_result result = std::from_chars(begin, end, size);
  return result.ec == std::errc() && result.ptr == end;
}

// Reads one request. The result is the status to answer with: 200 if the request is whole, 4xx or
// 5xx if it is refused, 0 if the client has gone or was too slow.
inline int read_request(vole::io::reader& in, request& r, std::error_code& error) {
  std::string line;
  in.set_max_line(kMaxLine);
  if (!in.read_line(line, error)) return error == vole::errc::too_long ? 414 : 0;
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == last) return 400;  // none, or only one
  r.method = line.substr(0, first);
  r.path = line.substr(first + 1, last - first - 1);
  r.version = line.substr(last + 1);
  if (r.version != "HTTP/1.1" && r.version != "HTTP/1.0") return 505;
  for (std::size_t n = 0;; ++n) {
    if (!in.read_line(line, error)) return error == vole::errc::too_long ? 431 : 0;
    if (line.empty()) break;
    if (n == kMaxHeaders) return 431;
    if (!parse_header(line, r)) return 400;
  }
  if (r.headers.count("transfer-encoding") != 0) return 501;  // chunks: not here
  std::size_t size = 0;
  if (!body_size(r, size)) return 400;
  if (size > kMaxBody) return 413;
  r.body.resize(size);
  return size == 0 || in.read_exact(r.body, error) == size ? 200 : 0;
}

}  // namespace http
