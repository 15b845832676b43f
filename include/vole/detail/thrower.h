// Which goroutine an exception comes from that somebody else is to get. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

struct thrower {
  static constexpr std::size_t kFrames = 48;
  std::uint64_t id = 0;
  const void* created_at = nullptr;
  char name[56] = {};  // empty: none
  std::uintptr_t frames[kFrames] = {};  // the stack of the throw, the innermost first
  std::size_t n = 0;
};

// This goroutine, in the handler behind that for throw_probe. Null: no memory for it.
std::unique_ptr<thrower> this_thrower() noexcept;

// Throws on what another goroutine has thrown.
[[noreturn]] void rethrow_from(const std::exception_ptr& error, const thrower* by);

// Nobody throws it. A handler for it is asked about every exception that comes by, before the stack
// is unwound, and the library looks at the stack then. Its destructor is defined nowhere, so the
// compiler leaves it to the library to say what type it is.
struct throw_probe {
  virtual ~throw_probe();
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
