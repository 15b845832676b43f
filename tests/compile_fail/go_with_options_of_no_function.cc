// expect: go: it cannot be called with these arguments
#include <vole/vole.h>

int main() { vole::go({.name = "worker"}, [](int) {}); }
