// A context's error, for the library's own code.
//
// Who    net, in the middle of an operation that others may wait for. context::err() is not for that:
//        as every call of the user's it may be the goroutine's last when the runtime ends
//        (vole/detail/left_behind.h), and then nothing that the goroutine holds is given up.
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
