// expect: wait_group::go: it cannot be called with copies of these arguments
#include <vole/vole.h>

int main() {
  vole::wait_group g;
  g.go([](int) {});  // its argument is missing
}
