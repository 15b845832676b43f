#include "sched/report/overflow_sig.h"

#include "arch/interrupted.h"
#include "base/fatal.h"
#include "os/os.h"
#include "sched/report/dump.h"
#include "sched/report/memory_locks.h"
#include "sched/state.h"
#include "stack/depot.h"
#include "symbols/symbols.h"
#include "walk/walk.h"

namespace vole::rt {
namespace {

// Written once, by the first that comes. Another thread's last words may have begun already: then they
// are not ours to print.
constinit faulted in_hand;
constinit atomic<const M*> in_hand_of{nullptr};

bool is_overflow(const G& g, const void* address) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  return at < g.stack.lo && at >= g.stack.lo - os::page_size();  // not somebody else's guard
}

// From a call of a function that is not there: the address to which it would return is where the
// call has put it.
bool leave_nowhere(walk::cursor& c, const walk::memory& stack) noexcept {
  if (c.registers.has(arch::kReturnAddress)) {
    c.pc = c.registers.at[arch::kReturnAddress];
  } else {
    const std::uintptr_t sp = c.registers.at[arch::kStackPointer];
    if (!stack.read(sp, &c.pc)) return false;
    c.registers.set(arch::kStackPointer, sp + sizeof c.pc);
  }
  c.exact = false;
  return c.pc != 0;
}

// Walks the whole stack and keeps its innermost calls. True: it got to the end, and none of the calls
// can hold a lock of malloc's.
bool walk_fault(const G& g, const void* context, own_stack* kept) noexcept {
  const arch::interrupted i = arch::interrupted_by(context);
  const auto from = reinterpret_cast<std::uintptr_t>(g.stack.lo);
  const walk::memory stack{from, from + g.stack.bytes};
  const std::uintptr_t sp = i.at.at[arch::kStackPointer];
  kept->n = 0;
  if (from == 0 || sp < from - os::page_size() || sp >= stack.to) return false;
  const memory_locks locks;
  walk::cursor c{i.at, i.pc, true};
  bool holds_none = true;
  if (symbols::module_of(c.pc).name.empty()) {
    kept->at[kept->n++] = c.pc + 1;
    if (!leave_nowhere(c, stack)) return false;
  }
  do {
    if (kept->n < kMostFrames) kept->at[kept->n++] = c.exact ? c.pc + 1 : c.pc;
    holds_none &= !locks.may_be_held_by(c.pc);
  } while (walk::step(c, stack, nullptr));
  constexpr std::uintptr_t kEntryFrame = 512;  // bytes, at most
  return holds_none && stack.to - c.registers.at[arch::kStackPointer] <= kEntryFrame;
}

void take_in_hand(const M& m, const void* context) noexcept {
  const M* none = nullptr;
  if (!in_hand_of.compare_exchange_strong(none, &m, seq_cst)) return;
  const bool holds_none = walk_fault(*m.curg, context, &in_hand.stack);
  // In strict mode the kernel may have stopped another thread inside malloc.
  in_hand.plain = !holds_none || sched.settings.strict ||
                  !os::in_alternate_stack(m.alternate_stack, __builtin_frame_address(0));
}

[[noreturn]] void overflowed(const G& g) noexcept {
  sentence s;
  s << "stack overflow: ";
  dump::put_goroutine(s, g);
  s << " has used up its " << static_cast<std::uint64_t>(g.stack.bytes)
    << " bytes. Give it more: go({.stack_size = ...}, fn), or VOLE_STACK_SIZE for all";
  fatal(s);
}

}  // namespace

const faulted* fault_in_hand() noexcept {
  const M* const m = this_m();
  return m != nullptr && in_hand_of.load(acquire) == m ? &in_hand : nullptr;
}

void on_fault(const os::fault& f) noexcept {
  M* const m = this_m();
  if (m == nullptr || m->curg == nullptr) return;
  const G& g = *m->curg;
  if (f.has_address && depot::is_guard(f.address) && is_overflow(g, f.address)) {
    take_in_hand(*m, f.context);
    overflowed(g);
  }
  if (!f.kills) return;  // somebody handles it, and may well repair it
  base::begin_last_words();
  sentence s;
  s << "vole: " << f.name;
  if (f.has_address) {
    s << " at address ";
    s.hex(reinterpret_cast<std::uintptr_t>(f.address));
  }
  s << " in ";
  dump::put_goroutine(s, g);
  s << ", by the instruction at ";
  dump::put_address(s, f.at);
  s << "\n\n";
  s.print();  // before anything that could fail once more
  take_in_hand(*m, f.context);
  const faulted* const mine = fault_in_hand();
  dump::one(
      g, mine != nullptr ? &mine->stack : nullptr, mine == nullptr || mine->plain,
      [](std::string_view text, void*) noexcept { write_stderr(text.data(), text.size()); }, nullptr);
}

}  // namespace vole::rt
