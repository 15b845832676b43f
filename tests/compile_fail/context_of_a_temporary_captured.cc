// expect: its_cancel_function_is_gone
#include <vole/vole.h>

int main() {
  vole::go([ctx = vole::with_timeout(vole::context::background(), vole::duration(1)).ctx] {});
}
