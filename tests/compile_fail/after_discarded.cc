// expect: (nodiscard|ignoring return value)
#pragma GCC diagnostic error "-Wunused-result"
#include <vole/vole.h>

int main() {
  vole::after(vole::duration(1));
}
