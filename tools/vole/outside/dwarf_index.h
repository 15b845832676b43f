// Which functions are at an address of a module: by its debug information.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

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
  struct span {
    std::uint64_t from, to;
    Dwarf_Off die;
  };
  static void add_ranges(Dwarf_Die* die, std::vector<span>& to);
  static void add_functions(Dwarf_Die* die, std::vector<span>& to, int depth);
  static const span* find_span(const std::vector<span>& in, std::uint64_t pc);
  const std::vector<span>& functions_of(Dwarf_Die* unit);

  Dwarf_Addr bias_ = 0;
  Dwarf* dwarf_ = nullptr;
  std::vector<span> units_;
  std::vector<std::pair<Dwarf_Off, std::vector<span>>> functions_;  // of units asked about
};

}  // namespace vole_command::outside
