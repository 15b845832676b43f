// expect: spawn: the function cannot be called with copies of these arguments
#include <vole/vole.h>

#include <string>

int main() { auto h = vole::spawn([](const std::string&) {}, 1); }
