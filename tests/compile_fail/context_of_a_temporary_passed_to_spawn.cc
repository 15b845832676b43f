// expect: spawn: the function cannot be called with copies of these arguments
#include <vole/vole.h>

int main() {
  (void)vole::spawn([](const vole::context&) {},
                    vole::with_timeout(vole::context::background(), vole::duration(1)).ctx);
}
