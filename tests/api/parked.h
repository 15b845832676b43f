// Waits until goroutines are really parked, as goroutines() tells.
//
// Who    tests that need waiters in a certain order.
// Note   a goroutine shown as waiting stands in its queue already: it got there
//        before its status changed.
#pragma once

#include <vole/vole.h>

#include <cstddef>
#include <string_view>

#include "fixture.h"

namespace vole_test {

// How many goroutines wait for this reason: "chan receive", "chan send", "select", ...
inline std::size_t parked(std::string_view why) {
  std::size_t n = 0;
  for (const vole::goroutine_info& g : vole::goroutines()) n += g.wait_reason == why ? 1 : 0;
  return n;
}

inline void wait_until_parked(std::size_t n, std::string_view why) {
  ASSERT_TRUE(eventually([=] {
    vole::yield();
    return parked(why) >= n;
  })) << why;
}

}  // namespace vole_test
