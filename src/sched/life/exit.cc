#include "sched/life/exit.h"

#include <unwind.h>

#include "arch/context.h"
#include "sched/life/enter.h"
#include "sched/park.h"
#include "sched/life/records.h"
#include "sched/state.h"
#include "sched/life/switch.h"
#include "sched/life/value_move.h"

namespace vole::rt {
namespace {

void give_stack_back(P& p, const stack& s) noexcept {
  if (s.bytes != sched.settings.stack_bytes) return depot::put(&s, 1);
  if (p.stacks == kStackCache) {
    p.stacks /= 2;
    depot::put(p.stack_cache + p.stacks, kStackCache - p.stacks);
  }
  p.stack_cache[p.stacks++] = s;
}

_Unwind_Reason_Code unwind_step(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                _Unwind_Exception* e, _Unwind_Context*, void*) {
  if ((actions & _UA_END_OF_STACK) == 0) return _URC_NO_REASON;
  delete e;
  vole_goroutine_end(this_m()->curg->stack.top());
}

// Called only when the unwinding has been stopped: a catch (...) came to its end.
void swallowed(_Unwind_Reason_Code, _Unwind_Exception*) {
  fatal(sentence() << "goroutine " << this_m()->curg->id
                   << " called exit_goroutine(), but a catch (...) did not rethrow. Add `throw;` "
                      "there, or catch (abi::__forced_unwind&) { throw; } before it");
}

// Out of line: this frame is unwound, too, and should hold nothing.
[[noreturn, gnu::noinline]] void not_unwound() noexcept {
  fatal(sentence() << "exit: exit_goroutine() could not unwind the stack of goroutine "
                   << this_m()->curg->id
                   << ". Was code on it compiled without unwind tables (-fno-asynchronous-unwind-"
                      "tables, assembly without .cfi)?");
}

}  // namespace

bool commit_end(G* g, void*) noexcept {
  M& m = *this_m();
  give_stack_back(*m.p, g->stack);
  recycle_g(m, g);
  return true;
}

bool is_exiting() noexcept {
  const M* const m = this_m();
  return m != nullptr && m->curg->exiting;
}

// Not for ASan: the unwinding leaves this frame without its epilogue, and red zones would stay behind.
[[gnu::no_sanitize_address]] void unwind_and_exit() {
  refuse_in_value_move();
  this_m()->curg->exiting = true;
  auto* const e = new _Unwind_Exception{};
  e->exception_cleanup = &swallowed;  // class 0: forced, nobody's exception
  _Unwind_ForcedUnwind(e, &unwind_step, nullptr);
  not_unwound();
}

}  // namespace vole::rt

using namespace vole;      // NOLINT: the C entry points below
using namespace vole::rt;  // NOLINT: belong to this room

extern "C" vole_next vole_goroutine_main() {
  G* const g = this_m()->curg;
  g->invoke(g->callable);
  return vole_goroutine_finish();
}
