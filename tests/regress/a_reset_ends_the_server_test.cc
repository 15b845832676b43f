// A client that resets its connection ends the server that vole's own pages show.
//
//     client                        server, as in net.h and docs/net.md
//     connects
//     SO_LINGER 0, close: a reset   read throws "connection reset by peer", in a goroutine that
//                                     go() started: a panic
//
// The samples take the error_code twins. The test runs what the pages show: it looks for its own
// text in them.

#include <sys/socket.h>
#include <unistd.h>
#include <vole/vole.h>

#include <fstream>
#include <iterator>
#include <string>

#include "regress.h"

namespace sample {
// [sample]
void echo(vole::net::conn c) {
  char text[4096];
  std::error_code error;  // a client may reset the connection at any time
  while (std::size_t n = c.read(text, error)) c.write({text, n}, error);
}
// [end]
}  // namespace sample

namespace {

using vole::net::conn;

VOLE_AT_PROCS(AResetEndsTheServer, 1, 2, 4);

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One line after the other, without what stands before and the comment signs.
std::string lines_of(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    line.erase(0, line.find_first_not_of(" /"));
    if (!line.empty()) out += line + "\n";
    at = end + 1;
  }
  return out;
}

TEST(TheServerOfThePages, IsTheOneThatIsTested) {
  const std::string root = VOLE_SOURCE_DIR "/";
  const std::string self = text_of(root + "tests/regress/a_reset_ends_the_server_test.cc");
  ASSERT_NE(self, "");
  const std::size_t begin = self.find("// [sample]\n") + 12;
  const std::string wanted = lines_of(self.substr(begin, self.find("// [end]") - begin));
  for (const char* page : {"include/vole/net.h", "docs/net.md"})
    EXPECT_NE(lines_of(text_of(root + page)).find(wanted), std::string::npos) << page;
}

void reset(conn c) {
  const linger at_once{1, 0};
  EXPECT_EQ(setsockopt(c.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
  c.close();
}

TEST_P(AResetEndsTheServer, ItServesTheNextClient) {
  run([] {
    auto server = vole::net::listen("tcp", "127.0.0.1:0");
    const std::string at = server.local_address().to_string();
    vole::wait_group echoes;
    auto serving = vole::spawn([&] {
      std::error_code error;
      while (error != vole::errc::closed)
        if (conn c = server.accept(error))
          echoes.go([c = std::move(c)]() mutable { sample::echo(std::move(c)); });
    });
    for (int i = 0; i < 20; ++i) {
      conn c = vole::net::dial("tcp", at);
      c.write("a question");  // unread data on our side is a reset, too
      if (i % 2 == 0) {
        char one[1];
        EXPECT_EQ(c.read(one), 1u);
      }
      reset(std::move(c));
      conn next = vole::net::dial("tcp", at);
      next.write("hello");
      char answer[5];
      EXPECT_EQ(next.read_full(answer), 5u);
    }
    server.close();
    serving.join();
    echoes.wait();
  });
}

}  // namespace
