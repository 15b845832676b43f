// expect: no matching function.*go
#include <vole/vole.h>

int main() {
  vole::go([](const vole::context&) {},
           vole::with_timeout(vole::context::background(), vole::duration(1)).ctx);
}
