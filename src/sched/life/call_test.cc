// blocking(), seen from inside: the mark alone has the P taken.

#include <gtest/gtest.h>
#include <vole/vole.h>

#include "sched/state.h"

namespace vole::rt {
namespace {

// Somebody waits for the P of a call that computes. It is not treated as one that runs on, which is
// asked first, is given a slice, and is served last by the kernel once it has lost its P.
TEST(Call, IsTakenByItsMark) {  // [23]
  const int had = vole::set_max_procs(1);
  bool patient = true;
  vole::run([&] {
    atomic<bool> ran{false};
    vole::go([&] { ran.store(true, seq_cst); });
    vole::blocking([&] {
      while (!ran.load(seq_cst)) {
      }
      M* const m = this_m();
      holding hold(m->retake_lock);
      patient = m->patient;
    });
  });
  vole::set_max_procs(had);
  EXPECT_FALSE(patient);
}

}  // namespace
}  // namespace vole::rt
