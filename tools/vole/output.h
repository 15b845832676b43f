// Writing a file that a command was asked for.
#pragma once

#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "refusal.h"

namespace vole_command {

inline void write_file(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    throw refusal(path + " cannot be written: " + std::generic_category().message(errno));
  }
}

}  // namespace vole_command
