// Waits until goroutines are really parked, as dump_goroutines() tells.
//
// Who    tests that need waiters in a certain order.
// Note   a goroutine shown as waiting stands in its queue already: it got there
//        before its status changed.
#pragma once

#include <vole/vole.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fixture.h"

namespace vole_test {

// How many goroutines wait for this reason: "chan receive", "chan send", "select", ...
inline std::size_t parked(std::string_view why) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  vole::dump_goroutines(out);
  std::fclose(out);
  const std::string all(text, size);
  std::free(text);
  std::size_t n = 0;
  for (const char* end : {"]", ","}) {
    const std::string wanted = ", " + std::string(why) + end;
    for (std::size_t at = 0; (at = all.find(wanted, at)) != std::string::npos; ++at) ++n;
  }
  return n;
}

inline void wait_until_parked(std::size_t n, std::string_view why) {
  ASSERT_TRUE(eventually([=] {
    vole::yield();
    return parked(why) >= n;
  })) << why;
}

}  // namespace vole_test
