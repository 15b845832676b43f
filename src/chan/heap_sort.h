// Sorts in place: no memory, no recursion, n log n in the worst case.
//
// Who    select, inside the runtime, of as many channels as a user has cases.
#pragma once

#include <cstddef>
#include <utility>

namespace vole {
inline namespace v0 {
namespace detail {

// The one at `hole` sinks until none below it is greater. at(k): a reference to the k-th of n.
template <class At, class Less>
void sink(std::size_t hole, std::size_t n, At& at, Less& less) noexcept {
  for (std::size_t below; (below = 2 * hole + 1) < n; hole = below) {
    if (below + 1 < n && less(at(below), at(below + 1))) ++below;
    if (!less(at(hole), at(below))) return;
    std::swap(at(hole), at(below));
  }
}

template <class At, class Less>
void heap_sort(std::size_t n, At at, Less less) noexcept {
  for (std::size_t i = n / 2; i-- > 0;) sink(i, n, at, less);
  for (std::size_t last = n; last-- > 1;) {
    std::swap(at(0), at(last));
    sink(0, last, at, less);
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
