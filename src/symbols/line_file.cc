// The file of a module, mapped, and its sections: line_table.h.

#include <dlfcn.h>
#include <link.h>

#include "symbols/elf_file.h"
#include "symbols/line_table.h"

#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern "C" [[gnu::weak]] int _dl_find_object(void*, dl_find_object*) noexcept;
#endif

namespace vole::symbols {
namespace {

bool find_sections(std::string_view file, line_sections* s) noexcept {
  each_section(file, [&](const Elf64_Shdr& one, std::string_view name) noexcept {
    if (name == ".debug_line") s->lines = part(file, one);
    if (name == ".debug_line_str") s->line_strings = part(file, one);
    if (name == ".debug_str") s->strings = part(file, one);
  });
  return !s->lines.empty();
}

}  // namespace

bool line_of(std::uintptr_t pc, line_place* found) noexcept {
#ifdef DLFO_STRUCT_HAS_EH_DBASE
  dl_find_object in;
  if (&_dl_find_object == nullptr || _dl_find_object(reinterpret_cast<void*>(pc), &in) != 0 ||
      in.dlfo_link_map == nullptr)
    return false;
  const link_map& m = *in.dlfo_link_map;
  const bool is_program = m.l_name == nullptr || m.l_name[0] == '\0';
  const mapped_file file(is_program ? os::own_program() : m.l_name);
  line_sections s;
  return find_sections(file.bytes(), &s) && line_in(s, pc - m.l_addr, found);
#else
  (void)pc, (void)found;
  return false;
#endif
}

}  // namespace vole::symbols
