#include "names.h"

#include <cinttypes>
#include <map>
#include <memory>

#include "dwarf_index.h"
#include "symbols/names.h"
#include "symbols/symbols.h"

namespace vole_command::outside {
namespace {

struct answers {
  session* of = nullptr;
  std::string sources;
  std::map<Dwfl_Module*, std::unique_ptr<dwarf_index>> indexes;
};
std::unique_ptr<answers> current;

// The outermost function has a name in the symbol table, which is whole where that of the debug
// information may not be. The library does the same.
std::vector<named_place> places_at(std::uint64_t pc) {
  Dwfl_Module* const m = dwfl_addrmodule(current->of->get(), pc);
  if (m == nullptr) return {};
  std::unique_ptr<dwarf_index>& index = current->indexes[m];
  if (index == nullptr) index = std::make_unique<dwarf_index>(m);
  std::vector<named_place> all = index->find(pc);
  GElf_Off offset;
  GElf_Sym symbol;
  const char* const name = dwfl_module_addrinfo(m, pc, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || (symbol.st_size != 0 && offset >= symbol.st_size)) return all;
  if (all.empty()) all.emplace_back();
  all.back().function = name;
  return all;
}

// symbols/names.cc knows this command's copy of vole's sources; those of the target may have lain
// elsewhere.
void translate(std::string& file) {
  const std::string& theirs = current->sources;
  if (!theirs.empty() && file.starts_with(theirs))
    file.replace(0, theirs.size(), vole::symbols::own_sources());
}

}  // namespace

naming::naming(session& s, std::string sources) {
  current = std::make_unique<answers>();
  current->of = &s;
  current->sources = std::move(sources);
}

naming::~naming() { current.reset(); }

}  // namespace vole_command::outside

namespace vole::symbols {

using namespace vole_command::outside;

bool look_up(std::uintptr_t pc, each_place fn, void* arg) noexcept {
  std::vector<named_place> all = places_at(pc);
  for (named_place& p : all) {
    translate(p.file);
    fn({p.function.empty() ? nullptr : p.function.c_str(),
        p.file.empty() ? nullptr : p.file.c_str(), p.line},
       arg);
  }
  return !all.empty();
}

module_place module_of(std::uintptr_t pc) noexcept {
  const module* const m = current->of->of().module_at(pc);
  if (m == nullptr) return {{}, pc};
  std::string_view name = m->path;
  name.remove_prefix(name.rfind('/') + 1);
  return {m->is_program ? "program" : name, pc - m->bias};
}

}  // namespace vole::symbols
