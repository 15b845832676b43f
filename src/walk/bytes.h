// Reads the encodings of unwind tables: fixed and variable-length numbers, encoded pointers.
//
// Law    never reads past `end`. A reader that would have to is `bad` from then on, and gives 0.
#pragma once

#include <cstdint>
#include <cstring>

namespace vole::walk {

class bytes {
 public:
  bytes(const std::uint8_t* at, const std::uint8_t* end) noexcept : at_(at), end_(end) {}

  bool more() const noexcept { return !bad_ && at_ < end_; }
  bool bad() const noexcept { return bad_; }
  const std::uint8_t* at() const noexcept { return at_; }
  const std::uint8_t* end() const noexcept { return end_; }

  template <class T>
  T number() noexcept {
    T value{};
    if (!has(sizeof(T))) return value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::uint8_t byte() noexcept { return number<std::uint8_t>(); }
  std::uint64_t uleb() noexcept;
  std::int64_t sleb() noexcept;
  void skip(std::uint64_t n) noexcept {
    if (has(n)) at_ += n;
  }
  // A block of n bytes, as a reader of its own; this one goes on behind it.
  bytes block(std::uint64_t n) noexcept {
    if (!has(n)) return {end_, end_};
    at_ += n;
    return {at_ - n, at_};
  }
  // An encoded pointer (DW_EH_PE_*); `data` is what a data-relative one is relative to.
  std::uintptr_t pointer(std::uint8_t encoding, std::uintptr_t data) noexcept;

 private:
  bool has(std::uint64_t n) noexcept {
    if (bad_ || n > static_cast<std::uint64_t>(end_ - at_)) bad_ = true;
    return !bad_;
  }
  std::uintptr_t plain(std::uint8_t format) noexcept;

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool bad_ = false;
};

}  // namespace vole::walk
