// expect: read: into a range of bytes that is not const
#include <vole/net.h>

#include <vector>

std::size_t f(vole::net::conn& c, const std::vector<char>& v) { return c.read(v); }
