// Names for the addresses of a target: what symbols/symbols.h asks of a program about itself is
// answered here about another one, so that sched/report/frames.cc prints both alike.
//
// Who    dump, top: one at a time.
// Note   libdw finds a unit by .debug_aranges, which clang does not write, and looks for functions
//        at the outermost level only, where gcc does not put lambdas. So there is an index of our
//        own: units by their ranges, and a unit's functions when it is first asked about.
#pragma once

#include <string>

#include "unwinder.h"

namespace vole_command::outside {

// As long as it lives, vole::symbols::look_up and module_of answer about the session's target.
// `sources`: the folder of its vole's sources; those are hidden.
class naming {
 public:
  naming(session& s, std::string sources);
  ~naming();
  naming(const naming&) = delete;
  naming& operator=(const naming&) = delete;
};

}  // namespace vole_command::outside
