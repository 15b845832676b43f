// The order in which a thief visits the Ps [14]: each once, a different order for
// every random number.
//
// Law    start = r % n, stride = a number coprime to n chosen by r / n. Coprime, so
//        n steps of the stride meet every index exactly once.
#pragma once

#include <cstdint>
#include <numeric>

namespace vole::rt {

inline constexpr std::uint32_t kMaxProcs = 1024;

// Which strides there are for a given n. Rebuilt with the world stopped.
class steal_strides {
 public:
  void reset(std::uint32_t n) noexcept {
    n_ = n;
    count_ = 0;
    for (std::uint32_t s = 1; s <= n; ++s)
      if (std::gcd(s, n) == 1) stride_[count_++] = static_cast<std::uint16_t>(s);
  }
  std::uint32_t size() const noexcept { return n_; }
  std::uint32_t stride(std::uint32_t r) const noexcept { return stride_[r % count_]; }

 private:
  std::uint32_t n_ = 0;
  std::uint32_t count_ = 0;
  std::uint16_t stride_[kMaxProcs] = {};
};

class steal_order {
 public:
  steal_order(const steal_strides& strides, std::uint32_t random) noexcept
      : n_(strides.size()),
        at_(random % n_),
        stride_(strides.stride(random / n_)),
        left_(n_) {}

  bool done() const noexcept { return left_ == 0; }
  std::uint32_t victim() const noexcept { return at_; }
  void step() noexcept {
    --left_;
    at_ += stride_;  // at most n: one subtraction is the remainder
    if (at_ >= n_) at_ -= n_;
  }

 private:
  std::uint32_t n_, at_, stride_, left_;
};

}  // namespace vole::rt
