// Bytes of a trace, read one after the other: the numbers of docs/trace-format.md.
//
// Law    a cursor never reads past its end. What cannot be read is a thrown `damaged`, a sentence
//        without its full stop that says where.
// Proof  reader_test.cc, tests/tools/trace_fuzz.cc
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vole_trace {

struct damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using bytes = std::span<const std::uint8_t>;

template <class T>
T little_endian(const std::uint8_t* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | static_cast<T>(from[i]) << 8 * i);
  }
  return value;
}

class cursor {
 public:
  cursor() = default;
  // `first` is the file's first byte: positions in sentences count from it.
  cursor(const std::uint8_t* first, bytes part)
      : first_(first), at_(part.data()), end_(part.data() + part.size()) {}

  bool done() const { return at_ == end_; }
  std::uint64_t position() const { return static_cast<std::uint64_t>(at_ - first_); }

  std::uint8_t byte() {
    if (at_ == end_) cut_off();
    return *at_++;
  }

  std::uint64_t varint() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return long_varint();
  }

  std::int64_t svarint() {
    const std::uint64_t raw = varint();
    return static_cast<std::int64_t>(raw >> 1 ^ (0 - (raw & 1)));
  }

  std::string_view string() {
    const std::uint64_t size = varint();
    if (size > static_cast<std::uint64_t>(end_ - at_)) cut_off();
    const auto* const text = reinterpret_cast<const char*>(at_);
    at_ += size;
    return {text, static_cast<std::size_t>(size)};
  }

 private:
  std::uint64_t long_varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    throw damaged("the number at byte " + std::to_string(position()) + " is longer than any");
  }

  [[noreturn]] void cut_off() const {
    throw damaged("what stands before byte " + std::to_string(position()) + " is cut off");
  }

  const std::uint8_t* first_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

// CRC-32 as zlib and PNG have it.
std::uint32_t crc32(bytes of);

}  // namespace vole_trace
