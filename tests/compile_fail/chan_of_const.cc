// expect: T must be a non-const object type
#include <vole/vole.h>

int main() { const vole::chan<const int> c; }
