// expect: vole::on_recv: the handler takes T, so a closed channel gives it a default T
#include <vole/vole.h>

struct no_default {
  explicit no_default(int) {}
};

int main() {
  const vole::chan<no_default> c(1);
  vole::select(vole::on_recv(c, [](no_default) {}));
}
