// Programs that are traced and die: trace_test.cc.
//
//   trace_child ring FILE      records into a ring and works until somebody kills it
//   trace_child exit           works for a moment and exits, in the middle of things
//   trace_child run            works for a moment in run()

#include <vole/vole.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using namespace std::chrono_literals;

void pair() {
  vole::chan<int> to, back;
  const auto echo = vole::spawn([=] {
    while (auto v = to.recv()) back.send(*v);
  });
  for (int i = 0; i < 50; ++i) {
    to.send(i);
    back.recv();
  }
  to.close();
}

void work() {
  vole::wait_group w;
  for (int i = 0; i < 4; ++i) w.go(&pair);
  w.go([] { vole::sleep_for(100us); });
  w.go([] { vole::blocking([] {}); });
  w.wait();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "ring" && argc > 2) {
    vole::trace::record({.bytes = 1u << 20, .ring = argv[2]});
    vole::run([] {
      work();
      std::puts("works");
      std::fflush(stdout);
      for (;;) work();
    });
  }
  if (what == "exit") {
    vole::go([] {
      for (;;) work();
    });
    vole::spawn([] { work(); }).join();
    std::exit(0);
  }
  vole::run([] { work(); });
  return 0;
}
