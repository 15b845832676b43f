// races_child NAME racy|twin    runs that program
// races_child all twin          all twins, one after the other; prints each name before it runs
// races_child list
// races_child alive N           N goroutines that have run and are alive

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "races/cases.h"

namespace races {

std::vector<test_case>& all() {
  static std::vector<test_case> cases;
  return cases;
}

}  // namespace races

namespace {

void run(const races::test_case& c, bool racy) {
  void (*const program)() = racy ? c.racy : c.twin;
  if (c.has_run) return program();
  vole::run([program] { program(); });
}

int keep_alive(int n) {
  return vole::run([n] {
    vole::chan<> end;
    vole::wait_group begun, over;
    begun.add(n);
    for (int i = 0; i < n; ++i)
      over.go([&] {
        begun.done();
        end.recv();
      });
    begun.wait();
    end.close();
    over.wait();
    std::printf("%d goroutines\n", n);
  });
}

int usage() {
  std::fputs("usage: races_child list | NAME racy|twin | all twin | alive N\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
    for (const races::test_case& c : races::all()) std::printf("%s\n", c.name.data());
    return 0;
  }
  if (argc != 3) return usage();
  if (std::strcmp(argv[1], "alive") == 0) return keep_alive(std::atoi(argv[2]));
  const std::string_view name = argv[1];
  const bool racy = std::strcmp(argv[2], "racy") == 0;
  bool found = false;
  for (const races::test_case& c : races::all()) {
    if (c.name != name && name != "all") continue;
    found = true;
    if (name == "all") std::fprintf(stderr, "races: %s\n", c.name.data());
    run(c, racy);
  }
  return found ? 0 : usage();
}
