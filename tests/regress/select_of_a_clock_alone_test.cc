// A select without channels reads its frame when the frame is gone.
//
//     the thread that parks it, in the commit       another P
//     starts the clock
//                                                   fires it: the goroutine goes on, and its
//                                                   frame is gone
//     is there a biased lock to leave? reads
//       the frame
//
// Without channels there is no lock that would keep the goroutine in pass 3 (chan/select.cc). Now the
// commit reads everything that it needs before it starts the clock.

#include <vole/vole.h>

#include <array>
#include <chrono>
#include <cstddef>

#include "../api/fixture.h"

namespace {

class SelectOfAClock : public vole_test::Runtime {};
INSTANTIATE_TEST_SUITE_P(Ps, SelectOfAClock, testing::Values(1, 2, 4), vole_test::procs_name);

// Where the frame was, something else.
[[gnu::noinline]] void write_over(unsigned char with) {
  std::array<volatile unsigned char, 2048> junk;
  for (volatile unsigned char& c : junk) c = with;
}

TEST_P(SelectOfAClock, IsOverWhenTheClockSaysSo) {
  constexpr int kGoroutines = 8, kTurns = vole_test::kSanitized ? 300 : 1500;
  vole::run([] {
    vole::wait_group all;
    for (int g = 0; g < kGoroutines; ++g)
      all.go([g] {
        for (int i = 0; i < kTurns; ++i) {
          EXPECT_EQ(vole::select(vole::on_after(std::chrono::nanoseconds(i * 7 % 2000 + g))), 0u);
          write_over(0xff);
        }
      });
    all.wait();
  });
}

}  // namespace
