// What the tests of faults share: the call that fails, and what counts as a good end.
#pragma once

#include <string>
#include <vector>

#include "child.h"

namespace vole::crash_test {

struct fault {
  const char* name;
  long call;
  std::vector<int> errors;
};

// No hang: the program gets on, or says why it cannot.
inline bool ends_well(const ended& e) {
  if (e.hung) return false;
  if (WIFEXITED(e.status)) return WEXITSTATUS(e.status) == 0;
  return WIFSIGNALED(e.status) && WTERMSIG(e.status) == SIGABRT &&
         e.err.find("vole: fatal: ") != std::string::npos;
}

}  // namespace vole::crash_test
