// A checkpoint where the compiler put one. Not for users: see vole::checkpoint() and the CMake
// function vole_preemptible.
#pragma once

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

// As checkpoint(), and harmless anywhere: in signal handlers, and in what runs inside the runtime.
void at_function_entry() noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
