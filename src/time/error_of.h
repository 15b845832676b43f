// What a context says, for the library's own code.
//
// Who    net, between the first and the last step of something that others wait for. context::err() is
//        not for that: it is a call of the user's, which may be the goroutine's last when the runtime
//        ends (vole/detail/left_behind.h), and then nobody knows what it holds.
// Where  anywhere: takes no lock, does not enter the runtime.
// Proof  tests/regress/cancelled_wait_keeps_its_file_test.cc
#pragma once

#include <vole/detail/context_node.h>

#include <system_error>

namespace vole {
inline namespace v0 {
namespace detail {

// None: it is not cancelled.
std::error_code error_of(const context_node* n) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
