// Safe-point functions while every P is taken from its thread all the time.
#include <cstdlib>

#include "safe_point_party.h"

namespace {

// Before the first runtime: the environment is read once.
const int storm = setenv("VOLE_DEBUG", "storm=100", 1);

VOLE_STRESS(SafePointStress);

TEST_P(SafePointStress, OnceForEveryPWhileAllElseGoesOn) {  // [11]
  ASSERT_EQ(storm, 0);
  vole_test::safe_point_party();
}

TEST_P(SafePointStress, RuntimesEndAndStartAgain) {
  ASSERT_EQ(storm, 0);
  vole_test::safe_points_at_the_end();
  allow_zombies();
}

}  // namespace
