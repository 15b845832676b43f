// The twin of include/vole/detail/left_behind.h: in a model no runtime ends.
#pragma once

#include <cstdint>

namespace vole {
inline namespace v0 {
namespace detail {

inline std::uint32_t left_behind() noexcept { return 0; }
inline void end_if_left_behind() noexcept {}

}  // namespace detail
}  // namespace v0
}  // namespace vole
