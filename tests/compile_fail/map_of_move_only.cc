// expect: V must be copyable, since values are given out as copies
#include <vole/vole.h>

#include <memory>

int main() { vole::concurrent_map<int, std::unique_ptr<int>> m; }
