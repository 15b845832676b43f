// The version: of the headers, as one number, and of the library that the program is linked with.
#pragma once

#include <string_view>

// major * 10000 + minor * 100 + patch
#define VOLE_VERSION 100  // 0.1.0

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {

// The library's: "0.1.0", and as VOLE_VERSION was when it was built.
std::string_view version() noexcept;
int version_number() noexcept;

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
