// The root of a target: found by its ELF note, checked before anything is believed.
#pragma once

#include <string>

#include "root/root.h"
#include "target.h"

namespace vole_command::outside {

struct found_root {
  std::uint64_t address = 0;
  vole::root::table table{};  // pointers in it are the target's
  std::string sources;        // the folder of its vole's sources

  std::string status_name(unsigned status) const;
  std::string reason_name(unsigned why) const;
};

// Refuses a target without vole, or with one that this command does not understand.
found_root find_root(const target& t);
// The same, where the root is known to be; false: there is none. `what` is for sentences.
bool read_root(const memory& mem, std::uint64_t address, const std::string& what, found_root* root);

}  // namespace vole_command::outside
