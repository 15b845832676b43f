// Errors of vole's own, as std::error_code of category "vole".
#pragma once

#include <system_error>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// What vole's calls say in a std::error_code, beside the system's own codes.
enum class errc {
  closed = 1,
  deadline_exceeded,  // == std::errc::timed_out
  canceled,           // == std::errc::operation_canceled
  goroutine_exited,   // the goroutine called exit_goroutine() and has no result
  no_such_host,       // a name that nobody knows
  lookup_failed,      // the name could not be looked up; later perhaps
  too_long,           // == std::errc::message_size: more bytes than the limit allows (vole/io.h)
  unexpected_end,     // the stream ended in the middle of what was asked for
};

// The category "vole" of these codes, and a code of it.
const std::error_category& vole_category() noexcept;
std::error_code make_error_code(errc e) noexcept;

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop

template <>
struct std::is_error_code_enum<vole::errc> : std::true_type {};
