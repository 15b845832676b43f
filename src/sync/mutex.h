// What condition_variable needs of a mutex.
#pragma once

#include "sync/waitable.h"

namespace vole {
inline namespace v0 {
namespace detail {

// unlock(), inside the runtime and in commits. Does not yield.
void mutex_unlock_inside(waitable& s, M* m) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
