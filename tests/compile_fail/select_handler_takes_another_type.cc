// expect: on_recv: a handler takes optional<T>, T or nothing
#include <vole/vole.h>

#include <string>

int main() {
  const vole::chan<int> c(1);
  vole::select(vole::on_recv(c, [](std::string) {}));
}
