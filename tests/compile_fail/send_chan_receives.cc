// expect: (has no member named .recv|no member named 'recv')
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  const vole::send_chan<int> in = c;
  (void)in.recv();
}
