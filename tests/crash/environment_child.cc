// Says what the environment has made of the settings.

#include "scenario.h"

namespace {

using namespace vole::crash_test;

int procs() {
  std::printf("procs %d\n", vole::max_procs());
  return 0;
}

int procs_in_run() {
  vole::run([] { std::printf("procs %d\n", vole::max_procs()); });
  return 0;
}

int set_before() {
  vole::set_max_procs(2);
  return procs_in_run();
}

// Without printing on the goroutine: the smallest stack has no room for stdio.
int goroutine() {
  static int ran = 0;
  vole::run([] {
    vole::wait_group done;
    done.go([] { ++ran; });
    done.wait();
  });
  std::printf("ran %d\n", ran);
  return 0;
}

int implicit() {
  vole::wait_group done;
  done.go([] {});
  done.wait();
  say("ran\n");
  return 0;
}

constexpr scenario kAll[] = {{"procs", procs},
                             {"procs_in_run", procs_in_run},
                             {"set_before", set_before},
                             {"goroutine", goroutine},
                             {"implicit", implicit}};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
