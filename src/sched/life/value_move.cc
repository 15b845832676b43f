#include "sched/life/value_move.h"

#include "base/fatal.h"

namespace vole::rt {
namespace {

// Also of threads that carry goroutines, where a thread_local is read by these functions only: they
// are not inlined, so no compiler keeps its address across a switch.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool moving = false;

}  // namespace

[[gnu::noinline]] value_move::value_move() noexcept { moving = true; }
[[gnu::noinline]] value_move::~value_move() { moving = false; }
[[gnu::noinline]] bool in_value_move() noexcept { return moving; }

void called_in_value_move() noexcept {
  base::fatal(
      "chan: the move constructor of a value in a channel, or the destructor of what it left "
      "behind, "
      "called vole and would have waited or woken somebody. It runs inside the scheduler, with the "
      "channel locked, and may do neither: do that before the send or after the receive, or send a "
      "std::unique_ptr to the value");
}

}  // namespace vole::rt
