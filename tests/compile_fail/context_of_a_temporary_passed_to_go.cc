// expect: go: the function cannot be called with copies of these arguments
#include <vole/vole.h>

int main() {
  vole::go([](const vole::context&) {},
           vole::with_timeout(vole::context::background(), vole::duration(1)).ctx);
}
