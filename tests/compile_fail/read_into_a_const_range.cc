// expect: byte_buffer|other_buffer
#include <vole/net.h>

#include <vector>

std::size_t f(vole::net::conn& c, const std::vector<char>& v) { return c.read(v); }
