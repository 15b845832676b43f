// expect: no member named .*send
#include <vole/vole.h>

int main() {
  vole::timer t(vole::duration(1));
  t.channel().send(vole::now());
}
