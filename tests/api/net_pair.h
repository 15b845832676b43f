// Two ends of a connection, and what the tests of the network share.
//
// Who    tests/api/net_*_test.cc, tests/stress/net_*.
#pragma once

#include <vole/net.h>

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace vole_test {

struct conn_pair {
  vole::net::conn near, far;
};

inline conn_pair connected_pair() {
  vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
  conn_pair p;
  p.near = vole::net::dial("tcp", l.local_address().to_string());
  p.far = l.accept();
  return p;
}

// Gives back what comes, until the end.
inline void echo(vole::net::conn c) {
  std::array<char, 4096> text;
  std::error_code error;
  while (const std::size_t n = c.read(text, error)) c.write({text.data(), n}, error);
}

inline std::error_code read_error(vole::net::conn& c) {
  char one[1];
  std::error_code error;
  (void)c.read(one, error);
  return error;
}

}  // namespace vole_test
