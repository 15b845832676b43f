// Fan-in: one loop listens to several sources with select.
//
// Teaches: a select takes whichever case is ready; a closed channel is ready for ever, so set it
// to nil and select passes it over; on_after() is a timeout for one select, and costs no thread
// and no allocation.

#include <vole/vole.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;

vole::recv_chan<std::string> source(const char* name, int values, vole::duration every) {
  const vole::chan<std::string> out;
  vole::go({.name = name}, [=] {
    for (int i = 1; i <= values; ++i) {
      vole::sleep_for(every);
      out.send(std::string(name) + " " + std::to_string(i));
    }
    out.close();
  });
  return out;
}

}  // namespace

int main() {
  return vole::run([] {
    vole::recv_chan<std::string> fast = source("fast", 5, 1ms), slow = source("slow", 2, 30ms);
    int values = 0, quiet = 0;
    while (fast != nullptr || slow != nullptr) {
      std::optional<std::string> got;
      switch (
          vole::select(vole::on_recv(fast, got), vole::on_recv(slow, got), vole::on_after(10ms))) {
        case 0:
          if (!got) fast = nullptr;  // closed: a nil channel is never ready
          break;
        case 1:
          if (!got) slow = nullptr;
          break;
        case 2:
          ++quiet;  // nobody had anything for 10 ms; we could give up here
          continue;
      }
      if (got) {
        ++values;
        std::printf("%s\n", got->c_str());
      }
    }
    std::printf("%d values; %d times nobody had one for 10 ms\n", values, quiet);
    return values == 7 ? 0 : 1;
  });
}
