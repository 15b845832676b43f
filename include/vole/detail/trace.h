// What vole/trace.h calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

extern std::atomic<std::uint32_t>& tracing;

void tell_region(bool begins, std::string_view name) noexcept;
std::uint64_t begin_task(std::string_view name, std::uint64_t parent) noexcept;  // 0: no trace
void end_task(std::uint64_t id) noexcept;
void tell_log(std::uint64_t task, std::string_view category, std::string_view text) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
