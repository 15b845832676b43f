#include "dwarf_index.h"

#include <dwarf.h>

#include <algorithm>

namespace vole_command::outside {
namespace {

constexpr int kDeepest = 64;  // scopes within scopes

std::string name_of(Dwarf_Die* die) {
  Dwarf_Attribute a;
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (const char* const s = dwarf_formstring(dwarf_attr_integrate(die, kind, &a))) return s;
  const char* const s = dwarf_diename(die);
  return s != nullptr ? s : "";
}

// The inlined calls at pc, outermost first.
void inlined_at(Dwarf_Die* die, std::uint64_t pc, std::vector<Dwarf_Die>& chain, int depth) {
  Dwarf_Die child;
  if (depth == kDeepest || dwarf_child(die, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
        dwarf_haspc(&child, pc) != 1)
      continue;
    if (tag == DW_TAG_inlined_subroutine) chain.push_back(child);
    return inlined_at(&child, pc, chain, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

void set_line(Dwarf_Die* unit, std::uint64_t pc, named_place& p) {
  Dwarf_Line* const line = dwarf_getsrc_die(unit, pc);
  if (line == nullptr) return;
  dwarf_lineno(line, &p.line);
  if (const char* const file = dwarf_linesrc(line, nullptr, nullptr)) p.file = file;
}

// Where the call was that was inlined.
void set_call(Dwarf_Die* unit, Dwarf_Die* call, named_place& p) {
  Dwarf_Attribute a;
  Dwarf_Word file = 0, line = 0;
  Dwarf_Files* files = nullptr;
  std::size_t n = 0;
  if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &a), &file) != 0 ||
      dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &a), &line) != 0 ||
      dwarf_getsrcfiles(unit, &files, &n) != 0 || file >= n)
    return;
  p.line = static_cast<int>(line);
  if (const char* const name = dwarf_filesrc(files, file, nullptr, nullptr)) p.file = name;
}

}  // namespace

dwarf_index::dwarf_index(Dwfl_Module* m) : dwarf_(dwfl_module_getdwarf(m, &bias_)) {
  if (dwarf_ == nullptr) return;
  Dwarf_Addr bias;
  for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(m, unit, &bias)) != nullptr;)
    add_ranges(unit, units_);
  std::sort(units_.begin(), units_.end(),
            [](const span& a, const span& b) { return a.from < b.from; });
}

// Code that the linker has thrown away begins at 0, or near the end of all addresses.
void dwarf_index::add_ranges(Dwarf_Die* die, std::vector<span>& to) {
  Dwarf_Addr base, from, until;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &from, &until)) > 0;)
    if (from != 0 && from < until) to.push_back({from, until, dwarf_dieoffset(die)});
}

void dwarf_index::add_functions(Dwarf_Die* die, std::vector<span>& to, int depth) {
  Dwarf_Die child;
  if (depth == kDeepest || dwarf_child(die, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) add_ranges(&child, to);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
        tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_lexical_block ||
        tag == DW_TAG_module)
      add_functions(&child, to, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// Spans do not lie within one another, but many may be the same: what several units have compiled
// and the linker has kept once.
const dwarf_index::span* dwarf_index::find_span(const std::vector<span>& in, std::uint64_t pc) {
  constexpr int kOverlaps = 1024;
  auto behind = std::upper_bound(in.begin(), in.end(), pc,
                                 [](std::uint64_t a, const span& s) { return a < s.from; });
  for (int i = 0; i < kOverlaps && behind != in.begin(); ++i) {
    --behind;
    if (pc < behind->to) return &*behind;
  }
  return nullptr;
}

const std::vector<dwarf_index::span>& dwarf_index::functions_of(Dwarf_Die* unit) {
  const Dwarf_Off at = dwarf_dieoffset(unit);
  for (const auto& [die, found] : functions_)
    if (die == at) return found;
  std::vector<span> found;
  add_functions(unit, found, 0);
  std::sort(found.begin(), found.end(),
            [](const span& a, const span& b) { return a.from < b.from; });
  return functions_.emplace_back(at, std::move(found)).second;
}

std::vector<named_place> dwarf_index::find(std::uint64_t address) {
  std::vector<named_place> all;
  const std::uint64_t pc = address - bias_;
  const span* const u = find_span(units_, pc);
  Dwarf_Die unit, function;
  if (u == nullptr || dwarf_offdie(dwarf_, u->die, &unit) == nullptr) return all;
  named_place place;
  set_line(&unit, pc, place);
  const span* const f = find_span(functions_of(&unit), pc);
  if (f == nullptr || dwarf_offdie(dwarf_, f->die, &function) == nullptr) {
    if (!place.file.empty()) all.push_back(place);
    return all;
  }
  std::vector<Dwarf_Die> chain;
  inlined_at(&function, pc, chain, 0);
  for (; !chain.empty(); chain.pop_back()) {
    place.function = name_of(&chain.back());
    all.push_back(place);
    place = {};
    set_call(&unit, &chain.back(), place);
  }
  place.function = name_of(&function);
  all.push_back(place);
  return all;
}

}  // namespace vole_command::outside
