#include <dlfcn.h>

#include "hooks/symbols.h"

namespace vole::hooks {

constinit originals found_originals{};

namespace {

// A sanitizer's own function stands before libc's, and is in the program, as we are.
void* original(const char* sanitizers, const char* name) noexcept {
#if defined(VOLE_SANITIZE_THREAD) || defined(VOLE_SANITIZE_ADDRESS)
  if (void* const theirs = dlsym(RTLD_DEFAULT, sanitizers)) return theirs;
#endif
  static_cast<void>(sanitizers);
  return dlsym(RTLD_NEXT, name);
}

}  // namespace

// Twice at once does no harm: both find the same. `read`, which says that all are there, is last.
void find_originals() noexcept {
  originals found{};
#define VOLE_FIND(name) \
  found.name = reinterpret_cast<decltype(found.name)>(original("__interceptor_" #name, #name));
  VOLE_HOOKED(VOLE_FIND)
#undef VOLE_FIND
  const auto last = found.read;
  found.read = nullptr;
  found_originals = found;
  found_originals.read = last;
}

namespace {

[[gnu::constructor(101)]] void at_load() { find_originals(); }

}  // namespace
}  // namespace vole::hooks
