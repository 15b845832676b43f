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

std::string_view section_bytes(Elf_Scn* section) {
  const Elf_Data* const data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

// Of those that are compressed the reader in symbols/ has no use.
vole::symbols::debug_sections sections_of(Elf* file) {
  vole::symbols::debug_sections s;
  std::size_t names = 0;
  if (file == nullptr || elf_getshdrstrndx(file, &names) != 0) return s;
  for (Elf_Scn* one = nullptr; (one = elf_nextscn(file, one)) != nullptr;) {
    GElf_Shdr h;
    if (gelf_getshdr(one, &h) == nullptr || h.sh_type == SHT_NOBITS ||
        (h.sh_flags & SHF_COMPRESSED) != 0)
      continue;
    const char* const text = elf_strptr(file, names, h.sh_name);
    const std::string_view name = text != nullptr ? text : "";
    if (name == ".debug_info") s.info = section_bytes(one);
    if (name == ".debug_abbrev") s.abbreviations = section_bytes(one);
    if (name == ".debug_str") s.strings = section_bytes(one);
    if (name == ".debug_line_str") s.line_strings = section_bytes(one);
    if (name == ".debug_ranges") s.ranges = section_bytes(one);
    if (name == ".debug_rnglists") s.range_lists = section_bytes(one);
  }
  return s;
}

bool is_short(const std::string& name) { return !name.starts_with("_Z"); }

}  // namespace

dwarf_index::dwarf_index(Dwfl_Module* m) : dwarf_(dwfl_module_getdwarf(m, &bias_)) {
  if (dwarf_ != nullptr) sections_ = sections_of(dwarf_getelf(dwarf_));
}

dwarf_index::unit* dwarf_index::unit_of(Dwarf_Die die) {
  unit*& known = known_[dwarf_dieoffset(&die)];
  if (known != nullptr) return known;
  Dwarf_Half version;
  std::uint8_t kind;
  Dwarf_Die own, split;
  if (dwarf_cu_info(die.cu, &version, &kind, &own, &split, nullptr, nullptr, nullptr) != 0)
    return nullptr;
  const bool is_split = kind == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;
  units_.push_back({own, is_split ? split : own, false, {}});
  return known = &units_.back();
}

// By the table of addresses; clang writes none, and then all units are asked, which takes a while.
dwarf_index::unit* dwarf_index::unit_at(std::uint64_t pc) {
  Dwarf_Die die;
  if (dwarf_addrdie(dwarf_, pc, &die) != nullptr) return unit_of(die);
  if (!has_all_) find_all_units();
  const span* const found = find_span(spans_, pc);
  return found != nullptr ? found->in : nullptr;
}

void dwarf_index::find_all_units() {
  has_all_ = true;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die own;
  while (dwarf_get_units(dwarf_, cu, &cu, nullptr, nullptr, &own, nullptr) == 0)
    if (unit* const u = unit_of(own)) add_ranges(&own, u, spans_);
  std::sort(spans_.begin(), spans_.end(),
            [](const span& a, const span& b) { return a.from < b.from; });
}

// Code that the linker has thrown away begins at 0, or near the end of all addresses.
void dwarf_index::add_ranges(Dwarf_Die* die, unit* in, std::vector<span>& to) {
  Dwarf_Addr base, from, until;
  for (std::ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &from, &until)) > 0;)
    if (from != 0 && from < until) to.push_back({from, until, *die, in});
}

void dwarf_index::add_functions(Dwarf_Die* die, std::vector<span>& to, int depth) {
  Dwarf_Die child;
  if (depth == kDeepest || dwarf_child(die, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) add_ranges(&child, nullptr, to);
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

const std::vector<dwarf_index::span>& dwarf_index::functions_of(unit& u) {
  if (u.is_indexed) return u.functions;
  u.is_indexed = true;
  add_functions(&u.functions_in, u.functions, 0);
  std::sort(u.functions.begin(), u.functions.end(),
            [](const span& a, const span& b) { return a.from < b.from; });
  return u.functions;
}

std::vector<named_place> dwarf_index::find(std::uint64_t address) {
  std::vector<named_place> all;
  const std::uint64_t pc = address - bias_;
  unit* const in = dwarf_ != nullptr ? unit_at(pc) : nullptr;
  if (in == nullptr) return all;
  unit& u = *in;
  named_place place;
  set_line(&u.own, pc, place);
  const span* const f = find_span(functions_of(u), pc);
  if (f == nullptr) {
    if (!place.file.empty()) all.push_back(place);
    return all;
  }
  Dwarf_Die function = f->die;
  std::vector<Dwarf_Die> chain;
  inlined_at(&function, pc, chain, 0);
  for (; !chain.empty(); chain.pop_back()) {
    place.function = name_of(&chain.back());
    all.push_back(place);
    place = {};
    set_call(&u.functions_in, &chain.back(), place);
  }
  place.function = name_of(&function);
  all.push_back(place);
  put_whole_names(pc, all);
  return all;
}

// As symbols/lookup_backtrace.cc does in the process.
void dwarf_index::put_whole_names(std::uint64_t pc, std::vector<named_place>& all) {
  if (std::none_of(all.begin(), all.end() - 1,
                   [](const named_place& p) { return is_short(p.function); }))
    return;
  if (!vole::symbols::find_inlined(sections_, pc, names_.get()) || names_->n + 1 != all.size())
    return;
  for (std::size_t i = 0; i < names_->n; ++i)
    if (is_short(all[i].function) && !names_->inlined[i].empty())
      all[i].function = names_->inlined[i];
}

}  // namespace vole_command::outside
