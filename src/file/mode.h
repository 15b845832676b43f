// The modes that file::open understands, which are fopen's.
//
// Who    file.cc.
#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>

namespace vole {
inline namespace v0 {
namespace detail {

// open(2)'s flags; -1: there is no such mode.
constexpr int flags_of_mode(std::string_view mode) noexcept {
  if (mode.empty()) return -1;
  const char first = mode[0];
  if (first != 'r' && first != 'w' && first != 'a') return -1;
  bool plus = false, exclusive = false, binary = false;
  for (const char c : mode.substr(1)) {
    bool& named = c == '+' ? plus : c == 'x' ? exclusive : binary;
    if ((c != '+' && c != 'x' && c != 'b') || named) return -1;
    named = true;
  }
  if (exclusive && first == 'r') return -1;
  const int way = plus ? O_RDWR : first == 'r' ? O_RDONLY : O_WRONLY;
  const int making = first == 'r' ? 0 : O_CREAT | (first == 'w' ? O_TRUNC : O_APPEND);
  return way | making | (exclusive ? O_EXCL : 0);
}

inline std::string about_mode(std::string_view mode) {
  return "no such mode: \"" + std::string(mode) +
         "\". It is \"r\" (read), \"w\" (write, emptied first) or \"a\" (append), with \"+\" "
         "behind it to read and write, and \"x\" behind w or a if the file must not exist";
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
