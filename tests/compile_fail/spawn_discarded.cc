// expect: destroyed at once it joins at once: keep the handle, or use go
#pragma GCC diagnostic error "-Wunused-result"
#include <vole/vole.h>

int main() {
  vole::spawn([] { return 1; });
}
