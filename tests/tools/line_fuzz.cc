// libFuzzer on the reader of line tables: the input is .debug_line, after it its strings.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "symbols/line_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto* const text = reinterpret_cast<const char*>(data) + 2;
  const std::string_view all(text, size - 2);
  const std::size_t cut = (data[0] | data[1] << 8) % (all.size() + 1);
  const std::string_view lines = all.substr(0, cut), strings = all.substr(cut);
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x1000}, ~std::uint64_t{0}}) {
    vole::symbols::line_place found;
    if (vole::symbols::line_in({lines, strings, strings}, address, &found) &&
        std::memchr(found.file, '\0', sizeof found.file) == nullptr)
      __builtin_trap();
  }
  return 0;
}
