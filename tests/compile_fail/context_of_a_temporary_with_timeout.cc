// expect: its_cancel_function_is_gone
#include <vole/vole.h>

int main() {
  auto [ctx, cancel] =
      vole::with_timeout(vole::with_timeout(vole::context::background(), vole::duration(1)).ctx, vole::duration(1));
}
