// expect: go: the function cannot be called with copies of these arguments
#include <vole/vole.h>

int main() {
  vole::go([](int&) {}, 1);  // as with std::thread, the copy does not bind to a reference: std::ref
}
