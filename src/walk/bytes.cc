#include "walk/bytes.h"

namespace vole::walk {
namespace {

// DW_EH_PE_*: how a pointer is written, what it is relative to, and whether it is the address of
// the pointer.
enum : std::uint8_t {
  kOmit = 0xff,
  kFormat = 0x0f,
  kRelation = 0x70,
  kIndirect = 0x80,
  kPcRelative = 0x10,
  kDataRelative = 0x30,
};

}  // namespace

std::uint64_t bytes::uleb() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t b = byte();
    if (bad_) return 0;
    if (shift < 64) value |= static_cast<std::uint64_t>(b & 0x7f) << shift;
    if ((b & 0x80) == 0) return value;
  }
}

std::int64_t bytes::sleb() noexcept {
  std::uint64_t value = 0;
  for (unsigned shift = 0;;) {
    const std::uint8_t b = byte();
    if (bad_) return 0;
    if (shift < 64) value |= static_cast<std::uint64_t>(b & 0x7f) << shift;
    shift += 7;
    if ((b & 0x80) != 0) continue;
    if ((b & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
    return static_cast<std::int64_t>(value);
  }
}

std::uintptr_t bytes::plain(std::uint8_t format) noexcept {
  const auto widen = [](std::int64_t v) { return static_cast<std::uintptr_t>(v); };
  switch (format) {
    case 0x00: return number<std::uintptr_t>();
    case 0x01: return uleb();
    case 0x02: return number<std::uint16_t>();
    case 0x03: return number<std::uint32_t>();
    case 0x04: return number<std::uint64_t>();
    case 0x09: return widen(sleb());
    case 0x0a: return widen(number<std::int16_t>());
    case 0x0b: return widen(number<std::int32_t>());
    case 0x0c: return widen(number<std::int64_t>());
    default: bad_ = true; return 0;
  }
}

std::uintptr_t bytes::pointer(std::uint8_t encoding, std::uintptr_t data) noexcept {
  if (encoding == kOmit) return 0;
  const auto here = reinterpret_cast<std::uintptr_t>(at_);
  std::uintptr_t value = plain(encoding & kFormat);
  if (bad_ || value == 0) return value;
  switch (encoding & kRelation) {
    case 0: break;
    case kPcRelative: value += here; break;
    case kDataRelative: value += data; break;
    default: bad_ = true; return 0;
  }
  if ((encoding & kIndirect) != 0)
    std::memcpy(&value, reinterpret_cast<const void*>(value), sizeof value);
  return value;
}

}  // namespace vole::walk
