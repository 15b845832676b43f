// expect: V must be copyable, since each caller gets a copy
#include <vole/vole.h>

#include <memory>

int main() { vole::singleflight<int, std::unique_ptr<int>> s; }
