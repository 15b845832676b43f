// expect: no matching function for call to .on_recv
#include <vole/vole.h>

#include <string>

int main() {
  const vole::chan<int> c(1);
  vole::select(vole::on_recv(c, [](std::string) {}));
}
