// Which functions are at an address of a module: by its debug information.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/scopes.h"

namespace vole_command::outside {

struct named_place {
  std::string function;  // the linker's name, or, where there is none, the plain one
  std::string file;
  int line = 0;
};

class dwarf_index {
 public:
  explicit dwarf_index(Dwfl_Module* m);
  // Innermost first. Empty: nothing is known.
  std::vector<named_place> find(std::uint64_t pc);

 private:
  struct unit;
  struct span {
    std::uint64_t from, to;
    Dwarf_Die die;
    unit* in;
  };
  // With -gsplit-dwarf the functions are in another file, and only lines and addresses in this one.
  struct unit {
    Dwarf_Die own, functions_in;
    bool is_indexed = false;
    std::vector<span> functions;
  };
  static void add_ranges(Dwarf_Die* die, unit* in, std::vector<span>& to);
  static void add_functions(Dwarf_Die* die, std::vector<span>& to, int depth);
  static const span* find_span(const std::vector<span>& in, std::uint64_t pc);
  unit* unit_of(Dwarf_Die die);
  unit* unit_at(std::uint64_t pc);
  void find_all_units();
  static const std::vector<span>& functions_of(unit& u);
  void put_whole_names(std::uint64_t pc, std::vector<named_place>& all);

  Dwarf_Addr bias_ = 0;
  Dwarf* dwarf_ = nullptr;
  std::deque<unit> units_;
  std::unordered_map<Dwarf_Off, unit*> known_;
  std::vector<span> spans_;  // of all units, if they had to be looked for
  bool has_all_ = false;
  vole::symbols::debug_sections sections_;
  std::unique_ptr<vole::symbols::scope_names> names_ =
      std::make_unique<vole::symbols::scope_names>();
};

}  // namespace vole_command::outside
