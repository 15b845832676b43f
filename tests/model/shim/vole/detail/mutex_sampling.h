// The twin of include/vole/detail/mutex_sampling.h: always.
#pragma once

#include <cstdint>

namespace vole {
inline namespace v0 {
namespace detail {

inline constexpr std::uint32_t mutex_sampling = 1;

}  // namespace detail
}  // namespace v0
}  // namespace vole
