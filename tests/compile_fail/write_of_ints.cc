// expect: write: text, or a range of char or std::byte
#include <vole/net.h>

#include <vector>

std::size_t f(vole::net::conn& c, const std::vector<int>& v) { return c.write(v); }
