// How often something took how long: a histogram with 32 steps to every power of two, so that
// percentiles are within 3 %.
#pragma once

#include <bit>
#include <cstdint>
#include <map>

namespace vole_trace {

class latency {
 public:
  void add(double ns) {
    const auto whole = ns < 1 ? std::uint64_t{0} : static_cast<std::uint64_t>(ns);
    ++counts_[step_of(whole)];
    ++count_;
    sum_ += ns;
    if (ns > longest_) longest_ = ns;
  }

  std::uint64_t count() const { return count_; }
  double longest() const { return longest_; }
  double sum() const { return sum_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

  // The value that this part (0 to 1) of all does not exceed, never more than the longest.
  double percentile(double part) const {
    const double wanted = part * static_cast<double>(count_);
    double seen = 0;
    for (const auto& [step, n] : counts_) {
      seen += static_cast<double>(n);
      if (seen < wanted) continue;
      const double middle = (start_of(step) + start_of(step + 1)) / 2;
      return step < 32 ? start_of(step) : middle < longest_ ? middle : longest_;
    }
    return longest_;
  }

  // How many were from `from` up to but not including `to`; both powers of two.
  std::uint64_t between(std::uint64_t from, std::uint64_t to) const {
    std::uint64_t n = 0;
    for (auto i = counts_.lower_bound(step_of(from)); i != counts_.end(); ++i) {
      if (i->first >= step_of(to)) break;
      n += i->second;
    }
    return n;
  }

 private:
  static std::uint32_t step_of(std::uint64_t ns) {
    if (ns < 32) return static_cast<std::uint32_t>(ns);
    const auto shift = static_cast<std::uint32_t>(std::bit_width(ns)) - 6;
    return shift * 32 + static_cast<std::uint32_t>(ns >> shift);
  }
  static double start_of(std::uint32_t step) {
    if (step < 32) return step;
    const std::uint32_t shift = step / 32 - 1;
    return static_cast<double>(32 + step % 32) * static_cast<double>(std::uint64_t{1} << shift);
  }

  std::map<std::uint32_t, std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0, longest_ = 0;
};

}  // namespace vole_trace
