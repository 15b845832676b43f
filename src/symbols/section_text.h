// Numbers and texts of debug information, as all of its sections write them.
//
// Law    of what lies outside a section nothing is read.
#pragma once

#include <cstdint>
#include <string_view>

#include "walk/bytes.h"

namespace vole::symbols {

// `wide`: in the 64-bit format.
inline std::uint64_t offset_in(walk::bytes& b, bool wide) noexcept {
  return wide ? b.number<std::uint64_t>() : b.number<std::uint32_t>();
}

// Up to its zero; empty if it has none.
inline std::string_view text_at(std::string_view section, std::uint64_t at) noexcept {
  if (at >= section.size()) return {};
  section.remove_prefix(static_cast<std::size_t>(at));
  const std::size_t end = section.find('\0');
  return end == std::string_view::npos ? std::string_view() : section.substr(0, end);
}

}  // namespace vole::symbols
