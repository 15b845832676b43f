// expect: group::go: the function cannot be called with copies of these arguments
#include <vole/vole.h>

int main() {
  vole::group g;
  g.go([](int) {});  // its argument is missing
}
