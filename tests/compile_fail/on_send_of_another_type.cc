// expect: on_send: this is no value for that channel
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  vole::select(vole::on_send(c, "text"), vole::on_default());
}
