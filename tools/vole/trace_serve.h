// A web server for one page and one trace, on 127.0.0.1.
//
// Law    answers only under a path that nobody can guess; writes nothing, reads no file.
// Note   one connection at a time, which is enough for one reader.
// Proof  tests/tools/trace_view_test.py
#pragma once

#include <string>

namespace vole_command {

class trace_server {
 public:
  trace_server(std::string page, std::string trace);  // throws refusal
  ~trace_server();
  trace_server(const trace_server&) = delete;
  trace_server& operator=(const trace_server&) = delete;

  const std::string& address() const { return address_; }
  [[noreturn]] void serve();  // until the process is interrupted

 private:
  void answer(int connection) const;

  std::string page_;
  std::string trace_;
  std::string path_;
  std::string address_;
  int socket_ = -1;
};

}  // namespace vole_command
