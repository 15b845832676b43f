// The page with a trace in it, as `vole trace view TRACE -o PAGE` writes it, without the rest of that
// command: `make run` builds this in seconds.
#include <cstdio>
#include <exception>

#include "output.h"
#include "trace_page.h"

int main(int argc, char** argv) try {
  using namespace vole_command;
  if (argc != 3) {
    std::fprintf(stderr, "usage: vole-page TRACE PAGE\n");
    return 2;
  }
  write_file(argv[2], page_with(read_page(), base_name(argv[1]), read_trace(argv[1])));
} catch (const std::exception& e) {
  std::fprintf(stderr, "vole-page: %s\n", e.what());
  return 1;
}
