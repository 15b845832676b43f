// The SRV records in an answer of the domain name system (RFC 1035, RFC 2782).
//
// Who    reverse.cc, on any thread.
// Law    the bytes come from outside: whatever they are, nothing beyond them is read, and parsing ends.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <vole/net_dial.h>

namespace vole {
inline namespace v0 {
namespace detail {

// False: it is no such answer. Records of other types are passed over; a target "." is none.
bool parse_srv(std::span<const unsigned char> answer, std::vector<net::srv>& out);

// In the order in which they are to be tried. random(n) is below n.
template <class Random>
void order_srv(std::vector<net::srv>& all, Random random) {
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    std::size_t best = i;
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (all[j].priority < all[best].priority) best = j;
    // Among those of the same priority, each as often as its weight says; 0: almost never.
    std::uint32_t sum = 0;
    for (std::size_t j = i; j < all.size(); ++j)
      if (all[j].priority == all[best].priority) sum += all[j].weight;
    const std::uint32_t drawn = random(sum + 1);
    std::uint32_t passed = 0;
    for (std::size_t j = i, priority = all[best].priority; j < all.size(); ++j) {
      if (all[j].priority != priority) continue;
      best = j;
      passed += all[j].weight;
      if (passed >= drawn) break;
    }
    std::swap(all[i], all[best]);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
