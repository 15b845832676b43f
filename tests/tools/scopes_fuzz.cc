// libFuzzer on the reader of debug information. The input is six sections behind one another, after
// the ends of the first five, two bytes each; a good one is tests/tools/corpus/scopes_fuzz.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "symbols/scopes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vole::symbols;
  constexpr std::size_t kHead = 10;
  if (size < kHead) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  std::array<std::string_view, 6> parts;
  std::size_t from = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = i < 5 ? data[2 * i] | data[2 * i + 1] << 8 : all.size();
    const std::size_t to = end < from ? from : end < all.size() ? end : all.size();
    parts[i] = all.substr(from, to - from);
    from = to;
  }
  const debug_sections s{parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]};
  static const auto found = std::make_unique<scope_names>();
  static std::size_t touched = 0;
  for (const std::uint64_t address : {0x1020, 0x1026, 0x102c, 0x1032, 0x1038}) {
    if (!find_inlined(s, address, found.get())) continue;
    for (std::size_t i = 0; i < found->n; ++i) {
      const std::string_view name = found->inlined[i];
      if (!name.empty() && name.data()[name.size()] != '\0') __builtin_trap();
      for (const char c : name) touched += static_cast<unsigned char>(c);
    }
  }
  return 0;
}
