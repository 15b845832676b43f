#include "hooks/callers.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <string_view>

namespace vole::hooks {
namespace {

// Until the end of the process: the environment's own text, or this.
constinit std::string_view list = "libcrypto:libssl:libsqlite3:libgrpc";

[[gnu::constructor(102)]] void at_load() {
  if (const char* const own = std::getenv("VOLE_HOOKS_BLOCKING")) list = own;
}

// Takes no lock, unlike dladdr.
std::string_view object_of(const void* at) noexcept {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(at), &found) != 0 || found.dlfo_link_map == nullptr)
    return {};
  const std::string_view path = found.dlfo_link_map->l_name;
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

bool must_not_park(const caller& by) noexcept {
  const std::string_view object = object_of(by.at);
  if (object.empty()) return false;  // the program itself has no name
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t end = rest.find(':');
    const std::string_view name = rest.substr(0, end);
    if (!name.empty() && object.substr(0, name.size()) == name) return true;
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  return false;
}

}  // namespace vole::hooks
