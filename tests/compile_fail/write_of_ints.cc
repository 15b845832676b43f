// expect: byte_sequence|other_sequence
#include <vole/net.h>

#include <vector>

std::size_t f(vole::net::conn& c, const std::vector<int>& v) { return c.write(v); }
