// expect: its_cancel_function_is_gone
#include <vole/vole.h>

inline constexpr vole::context_key<int> key{"key"};
int main() {
  (void)vole::with_value(vole::with_timeout(vole::context::background(), vole::duration(1)).ctx, key, 1);
}
