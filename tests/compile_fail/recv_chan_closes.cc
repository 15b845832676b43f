// expect: (has no member named .close|no member named 'close')
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  const vole::recv_chan<int> out = c;
  out.close();
}
