// Which goroutine an exception comes from that somebody else is to get. Not for users.
#pragma once

#include <cstdint>
#include <memory>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

struct thrower {
  std::uint64_t id = 0;
  const void* created_at = nullptr;
  char name[56] = {};  // empty: none
};

// This goroutine. Null: no memory for it.
std::unique_ptr<thrower> this_thrower() noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
