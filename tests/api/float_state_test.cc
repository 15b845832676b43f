// Rounding and flush-to-zero belong to the goroutine, and die with it.

#include <vole/vole.h>

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "fixture.h"

namespace {

class FloatState : public vole_test::Runtime {};
VOLE_AT_1_2_4_PROCS(FloatState);

constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

double third() {
  volatile double one = 1.0, three = 3.0;
  return one / three;
}

TEST_P(FloatState, RoundingModeSurvivesYields) {
  run([] {
    const double nearest = third();
    vole::wait_group done;
    for (int i = 0; i < 40; ++i)
      done.go([i, nearest] {
        const int mode = kModes[i % 4];
        std::fesetround(mode);
        for (int k = 0; k < 50; ++k) {
          vole::yield();
          ASSERT_EQ(std::fegetround(), mode);
        }
        EXPECT_EQ(third() > nearest, mode == FE_UPWARD);
        std::fesetround(FE_TONEAREST);
      });
    done.wait();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  });
}

TEST_P(FloatState, DoesNotLeakToTheNextGoroutineOnTheStack) {
  run([] {
    for (int round = 0; round < 100; ++round) {
      vole::wait_group done;
      for (int i = 0; i < 4; ++i) {
        done.go([i] { std::fesetround(kModes[1 + i % 3]); });  // and ends like that
        done.go([] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
      }
      done.wait();
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    }
  });
}

TEST_P(FloatState, DoesNotLeakOutOfARun) {
  run([] { std::fesetround(FE_UPWARD); });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  run([] { EXPECT_EQ(std::fegetround(), FE_TONEAREST); });
}

#if defined(__x86_64__)  // MXCSR by name; on AArch64 fesetround covers the same register
constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;

TEST_P(FloatState, FlushToZeroBitsSurviveYieldsAndDoNotLeak) {
  run([] {
    vole::wait_group done;
    for (int i = 0; i < 40; ++i)
      done.go([i] {
        const unsigned fresh = _mm_getcsr() & (kFlushToZero | kDenormalsAreZero);
        EXPECT_EQ(fresh, 0u);
        const unsigned mine = i % 2 == 0 ? kFlushToZero : kDenormalsAreZero;
        _mm_setcsr(_mm_getcsr() | mine);
        for (int k = 0; k < 50; ++k) {
          vole::yield();
          ASSERT_EQ(_mm_getcsr() & (kFlushToZero | kDenormalsAreZero), mine);
        }
      });
    done.wait();
  });
}
#endif

}  // namespace
