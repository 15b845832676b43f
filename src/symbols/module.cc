#include <dlfcn.h>
#include <link.h>

#include "symbols/symbols.h"

#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern "C" [[gnu::weak]] int _dl_find_object(void*, dl_find_object*) noexcept;
#endif

namespace vole::symbols {

module_place module_of(std::uintptr_t pc) noexcept {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object found;
  if (&_dl_find_object != nullptr && _dl_find_object(reinterpret_cast<void*>(pc), &found) == 0 &&
      found.dlfo_link_map != nullptr) {
    const link_map& m = *found.dlfo_link_map;
    std::string_view name = m.l_name != nullptr ? m.l_name : "";
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 == 0
    return {name.empty() ? "program" : name, pc - m.l_addr};
  }
#endif
  return {{}, pc};
}

}  // namespace vole::symbols
