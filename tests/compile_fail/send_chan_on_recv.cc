// expect: on_recv: a send_chan can only send
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  const vole::send_chan<int> in = c;
  vole::select(vole::on_recv(in));
}
