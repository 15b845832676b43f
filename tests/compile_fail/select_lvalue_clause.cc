// expect: select: write clauses inside the call, or keep a select_case
// A clause refers to its arguments: it is written inside the call.
#include <vole/vole.h>

int main() {
  const vole::chan<int> c(1);
  auto clause = vole::on_recv(c);
  vole::select(clause);
}
