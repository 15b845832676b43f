// expect: (use of deleted function|call to (implicitly-)?deleted)
#include <vole/vole.h>

int main() {
  const vole::timer a(vole::duration(1));
  vole::timer b(a);
}
