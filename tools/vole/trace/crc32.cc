// CRC-32, eight bytes at a time; see bytes.h.
#include <array>

#include "trace/bytes.h"

namespace vole_trace {
namespace {

using tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr tables make_tables() {
  tables t{};
  for (std::uint32_t n = 0; n < 256; ++n) {
    std::uint32_t c = n;
    for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xedb88320U ^ c >> 1 : c >> 1;
    t[0][n] = c;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t n = 0; n < 256; ++n) t[k][n] = t[k - 1][n] >> 8 ^ t[0][t[k - 1][n] & 0xff];
  }
  return t;
}

constexpr tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(bytes of) {
  std::uint32_t c = 0xffffffffU;
  std::size_t i = 0;
  for (; i + 8 <= of.size(); i += 8) {
    const std::uint32_t low = c ^ little_endian<std::uint32_t>(of.data() + i);
    c = kTables[7][low & 0xff] ^ kTables[6][low >> 8 & 0xff] ^ kTables[5][low >> 16 & 0xff] ^
        kTables[4][low >> 24] ^ kTables[3][of[i + 4]] ^ kTables[2][of[i + 5]] ^
        kTables[1][of[i + 6]] ^ kTables[0][of[i + 7]];
  }
  for (; i < of.size(); ++i) c = kTables[0][(c ^ of[i]) & 0xff] ^ c >> 8;
  return ~c;
}

}  // namespace vole_trace
