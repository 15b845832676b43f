#include "walk/memory.h"

namespace vole::walk {

[[gnu::noinline]]
#if defined(__clang__)
__attribute__((no_sanitize("address", "thread", "undefined")))
#else
__attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif
bool memory::read(std::uintptr_t address, std::uintptr_t* value) const noexcept {
  if (!holds(address)) return false;
  *value = *reinterpret_cast<const volatile std::uintptr_t*>(address);
  return true;
}

}  // namespace vole::walk
