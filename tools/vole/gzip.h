// gzip, if this vole has zlib; otherwise an empty string.
#pragma once

#include <string>

namespace vole_command {

std::string gzipped(const std::string& in);

}  // namespace vole_command
