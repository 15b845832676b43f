// expect: deleted (member )?function .*go
#include <vole/vole.h>

int main() {
  vole::wait_group g;
  g.go([](const vole::context&) {},
       vole::with_timeout(vole::context::background(), vole::duration(1)).ctx);
}
