// expect: run: a function without arguments that gives an int, or nothing
#include <vole/vole.h>

int main() {
  return vole::run([] { return "done"; });
}
