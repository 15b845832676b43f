// expect: (nodiscard|ignoring return value)
#pragma GCC diagnostic error "-Wunused-result"
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  vole::signal_notify(c, {SIGINT});
}
