// expect: on_recv: a handler takes optional<T>, T or nothing
#include <vole/vole.h>

#include <optional>

int main() {
  const vole::chan<int> c(1);
  std::optional<long> out;
  vole::select(vole::on_recv(c, out));
}
