// The messages of this room's errors, in Go's words: "dial tcp 127.0.0.1:1: connection refused".
//
// Who    src/net, src/file, src/process and src/io, in user context.
// Note   a std::system_error is thrown; only its what() is ours, since a system_error's own would
//        begin the system's sentence with a capital letter.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <vole/errors.h>

namespace vole {
inline namespace v0 {
namespace detail {

// A failure on its way up. `what`: what to say instead of the code's own message, if it knows more.
struct failure {
  std::error_code code;
  std::string what;
  std::string where;  // the address that was tried last; may be empty
  explicit operator bool() const noexcept { return static_cast<bool>(code); }
};

inline std::error_code system_error_code(int error) noexcept {
  return {error, std::system_category()};
}
std::string message_of(const std::error_code& code);

// "<operation>: <message>"
[[noreturn]] void throw_net(std::string operation, const std::error_code& code);
[[noreturn]] void throw_net(std::string operation, const failure& f);

}  // namespace detail
}  // namespace v0
}  // namespace vole
