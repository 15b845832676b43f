// expect: the value can only be moved: std::move
// Nor by try_send.
#include <vole/vole.h>

#include <memory>

int main() {
  const vole::chan<std::unique_ptr<int>> c(1);
  const std::unique_ptr<int> value;
  (void)c.try_send(value);
}
