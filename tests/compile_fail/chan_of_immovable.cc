// expect: T must be move-constructible
#include <vole/vole.h>

#include <mutex>

int main() { const vole::chan<std::mutex> c; }
