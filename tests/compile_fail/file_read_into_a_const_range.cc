// expect: read: into a range of bytes that is not const
#include <vole/io.h>

#include <string>

std::size_t f(vole::file& from, const std::string& to) { return from.read(to); }
