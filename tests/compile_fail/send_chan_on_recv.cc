// expect: no matching function for call to .on_recv
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  const vole::send_chan<int> in = c;
  vole::select(vole::on_recv(in));
}
