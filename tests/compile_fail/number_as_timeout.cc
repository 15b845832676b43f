// expect: a number is not a duration: give it a unit, as in 5ms
#include <vole/vole.h>

int main() {
  const vole::chan<int> c;
  (void)c.recv_for(5);
}
