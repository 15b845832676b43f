// Hello: the smallest program.
//
// Teaches: run() calls its function as the main goroutine and ends the runtime when it returns;
// a wait_group starts goroutines and waits for all of them.

#include <vole/vole.h>

#include <cstdio>

int main() {
  return vole::run([] {
    vole::wait_group greetings;
    for (const char* name : {"Ada", "Barbara", "Grace"})
      greetings.go([name] { std::printf("hello, %s\n", name); });
    greetings.wait();  // without this, run() could end before they have run
  });
}
