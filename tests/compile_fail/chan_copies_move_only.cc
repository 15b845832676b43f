// expect: (send: this is no value for that channel|deleted)
// A move-only value cannot be copied into a channel.
#include <vole/vole.h>

#include <memory>

int main() {
  const vole::chan<std::unique_ptr<int>> c(1);
  const std::unique_ptr<int> value;
  c.send(value);
}
