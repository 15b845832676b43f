// expect: (has no member named .send|no member named 'send')
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  const vole::recv_chan<int> out = c;
  out.send(1);
}
