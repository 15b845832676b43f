// The version that the library was built as; cmake/library.cmake says it.
#include <vole/version.h>

namespace vole {
inline namespace v0 {

static_assert(VOLE_VERSION == VOLE_LIBRARY_VERSION_NUMBER,
              "include/vole/version.h and CMakeLists.txt differ");

std::string_view version() noexcept { return VOLE_LIBRARY_VERSION; }

int version_number() noexcept { return VOLE_VERSION; }

}  // namespace v0
}  // namespace vole
