// How often a mutex counts which P locks it. Not for users.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

inline constexpr std::uint32_t mutex_sampling = 256;  // once in so many times

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
