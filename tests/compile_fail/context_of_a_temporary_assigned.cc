// expect: its_cancel_function_is_gone
#include <vole/vole.h>

int main() {
  vole::context ctx;
  ctx = vole::with_deadline(vole::context::background(), vole::now()).ctx;
}
