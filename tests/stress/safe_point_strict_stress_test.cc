// Safe-point functions in strict mode: threads are captured in a signal handler, every 100 us of
// their CPU time.
#include <cstdlib>

#include "safe_point_party.h"

namespace {

// Before the first runtime: the environment is read once.
const int strict = setenv("VOLE_DEBUG", "strictprocs=1,storm=100", 1);

VOLE_STRESS(SafePointStrictStress);

TEST_P(SafePointStrictStress, OnceForEveryPWhileAllElseGoesOn) {  // [11]
  ASSERT_EQ(strict, 0);
  vole_test::safe_point_party();
}

}  // namespace
