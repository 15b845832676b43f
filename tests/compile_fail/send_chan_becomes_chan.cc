// expect: (conversion from|no viable conversion|could not convert)
// A view gives back only what it shows.
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  const vole::send_chan<int> in = c;
  const vole::chan<int> both = in;
}
