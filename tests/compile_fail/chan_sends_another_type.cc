// expect: send: this is no value for that channel
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  c.send("text");
}
