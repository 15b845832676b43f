// CRC-32, eight bytes at a time.

#include <array>
#include <cstring>

#include "trace/format.h"

namespace vole::rt::trace {
namespace {

constexpr std::uint32_t kPolynomial = 0xedb88320;

using table = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr table make_table() {
  table t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? kPolynomial ^ (c >> 1) : c >> 1;
    t[0][i] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t i = 0; i < 256; ++i) t[k][i] = t[0][t[k - 1][i] & 0xff] ^ (t[k - 1][i] >> 8);
  return t;
}
constexpr table kTable = make_table();

}  // namespace

std::uint32_t crc32(const void* bytes, std::size_t n) noexcept {
  const auto* at = static_cast<const std::uint8_t*>(bytes);
  std::uint32_t c = ~std::uint32_t{0};
  for (; n >= 8; n -= 8, at += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, at, 8);  // little-endian, as both ports are
    eight ^= c;
    c = 0;
    for (std::size_t k = 0; k < 8; ++k) c ^= kTable[7 - k][eight >> (8 * k) & 0xff];
  }
  for (; n != 0; --n, ++at) c = kTable[0][(c ^ *at) & 0xff] ^ (c >> 8);
  return ~c;
}

}  // namespace vole::rt::trace
