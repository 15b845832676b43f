#include "symbols/functions.h"

#include <dlfcn.h>
#include <link.h>

#include "symbols/elf_file.h"

namespace vole::symbols {
namespace {

struct tables {
  std::string_view symbols, names;             // .symtab
  std::string_view dynamic, dynamic_names;     // .dynsym: what is left of it in a stripped file
};

tables tables_of(std::string_view file) noexcept {
  tables t;
  each_section(file, [&](const Elf64_Shdr& s, std::string_view name) noexcept {
    if (name == ".symtab") t.symbols = part(file, s);
    if (name == ".strtab") t.names = part(file, s);
    if (name == ".dynsym") t.dynamic = part(file, s);
    if (name == ".dynstr") t.dynamic_names = part(file, s);
  });
  if (t.symbols.empty()) {
    t.symbols = t.dynamic;
    t.names = t.dynamic_names;
  }
  return t;
}

bool walk(std::string_view file, std::uintptr_t bias, each_function fn, void* arg) noexcept {
  const tables t = tables_of(file);
  const std::size_t n = t.symbols.size() / sizeof(Elf64_Sym);
  for (std::size_t i = 0; i < n; ++i) {
    Elf64_Sym s;
    std::memcpy(&s, t.symbols.data() + i * sizeof s, sizeof s);
    if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
        s.st_name >= t.names.size())
      continue;
    const std::string_view rest = t.names.substr(s.st_name);
    const std::uintptr_t from = bias + s.st_value;
    fn({rest.substr(0, rest.find('\0')), from, from + s.st_size,
        ELF64_ST_BIND(s.st_info) == STB_WEAK},
       arg);
  }
  return n != 0;
}

struct wanted {
  std::uintptr_t pc;
  each_function fn;
  void* arg;
  bool found = false;
};

std::uintptr_t end_of(const dl_phdr_info& m, std::uintptr_t* from) noexcept {
  std::uintptr_t to = 0;
  *from = ~std::uintptr_t{0};
  for (int i = 0; i < m.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = m.dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    if (m.dlpi_addr + p.p_vaddr < *from) *from = m.dlpi_addr + p.p_vaddr;
    if (m.dlpi_addr + p.p_vaddr + p.p_memsz > to) to = m.dlpi_addr + p.p_vaddr + p.p_memsz;
  }
  return to;
}

int look(dl_phdr_info* m, std::size_t, void* arg) {
  auto& w = *static_cast<wanted*>(arg);
  std::uintptr_t from;
  const std::uintptr_t to = end_of(*m, &from);
  if (w.pc < from || w.pc >= to) return 0;
  const bool is_program = m->dlpi_name == nullptr || m->dlpi_name[0] == '\0';
  const mapped_file file(is_program ? os::own_program() : m->dlpi_name);
  w.found = walk(file.bytes(), m->dlpi_addr, w.fn, w.arg);
  return 1;
}

std::string_view build_id_of(const dl_phdr_info& m) noexcept {
  for (int i = 0; i < m.dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = m.dlpi_phdr[i];
    if (p.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(m.dlpi_addr + p.p_vaddr);
    const char* const end = at + p.p_memsz;
    while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const text = name + (note.n_namesz + 3u) / 4 * 4;
      const char* const next = text + (note.n_descsz + 3u) / 4 * 4;
      if (text > end || next > end || next <= at) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
        return {text, note.n_descsz};
      at = next;
    }
  }
  return {};
}

struct listing {
  each_module fn;
  void* arg;
};

int tell(dl_phdr_info* m, std::size_t, void* arg) {
  const auto& l = *static_cast<const listing*>(arg);
  module one;
  const bool is_program = m->dlpi_name == nullptr || m->dlpi_name[0] == '\0';
  char path[4096];
  one.path = m->dlpi_name != nullptr ? m->dlpi_name : "";
  if (is_program) {
    one.path = {path, os::path_of_program(path, sizeof path)};
  }
  one.bias = m->dlpi_addr;
  one.to = end_of(*m, &one.from);
  one.build_id = build_id_of(*m);
  if (one.from < one.to && !(is_program && one.path.empty())) l.fn(one, l.arg);
  return 0;
}

}  // namespace

bool functions_of(std::uintptr_t pc, each_function fn, void* arg) noexcept {
  wanted w{pc, fn, arg};
  dl_iterate_phdr(&look, &w);
  return w.found;
}

void modules(each_module fn, void* arg) noexcept {
  listing l{fn, arg};
  dl_iterate_phdr(&tell, &l);
}

}  // namespace vole::symbols
