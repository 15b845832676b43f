// expect: on_send: a recv_chan can only receive
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  const vole::recv_chan<int> out = c;
  vole::select(vole::on_send(out, 1));
}
