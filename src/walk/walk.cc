#include "walk/walk.h"

#include "walk/expression.h"

extern "C" void
vole_land() noexcept;  // arch/*/switch.S: the table there fits every departed context

namespace vole::walk {
namespace {

using arch::registers;

bytes program_of(const rule& r) noexcept { return {r.program, r.program + r.size}; }

bool find_cfa(const row& r, const registers& now, const memory& stack,
              std::uintptr_t* cfa) noexcept {
  if (r.cfa.kind == how::is_program) return evaluate(program_of(r.cfa), now, stack, nullptr, cfa);
  if (!now.has(r.cfa.reg)) return false;
  *cfa = now.at[r.cfa.reg] + static_cast<std::uintptr_t>(r.cfa.value);
  return true;
}

// False: what should be there cannot be read.
bool restore(const rule& r, std::uintptr_t cfa, const registers& now, const memory& stack,
             registers& caller) noexcept {
  std::uintptr_t value = 0;
  switch (r.kind) {
    case how::same: return true;
    case how::lost: caller.forget(r.reg); return true;
    case how::at_cfa:
      if (!stack.read(cfa + static_cast<std::uintptr_t>(r.value), &value)) return false;
      break;
    case how::is_cfa: value = cfa + static_cast<std::uintptr_t>(r.value); break;
    case how::in_register: {
      const auto other = static_cast<unsigned>(r.value);
      if (!now.has(other)) return false;
      value = now.at[other];
      break;
    }
    case how::at_program:
      if (!evaluate(program_of(r), now, stack, &cfa, &value) || !stack.read(value, &value))
        return false;
      break;
    case how::is_program:
      if (!evaluate(program_of(r), now, stack, &cfa, &value)) return false;
      break;
  }
  caller.set(r.reg, value);
  return true;
}

}  // namespace

const row& row_cache::find(std::uintptr_t pc) noexcept {
  row& r = rows[(pc ^ pc >> 10) % kRows];
  if (r.pc != pc) compute_row(pc, &r);
  return r;
}

cursor departed_at(const void* sp) noexcept {
  cursor c;
  c.registers.set(arch::kStackPointer, reinterpret_cast<std::uintptr_t>(sp));
  c.pc = reinterpret_cast<std::uintptr_t>(&vole_land);
  return c;
}

bool step(cursor& c, const memory& stack, row_cache* cache) noexcept {
  const std::uintptr_t at = c.exact ? c.pc : c.pc - 1;
  row computed;
  if (cache == nullptr) compute_row(at, &computed);
  const row& r = cache != nullptr ? cache->find(at) : computed;
  std::uintptr_t cfa;
  if (!r.usable || !find_cfa(r, c.registers, stack, &cfa)) return false;
  if (cfa < c.registers.at[arch::kStackPointer] || cfa < stack.from || cfa > stack.to) return false;
  const bool first = c.exact;
  if (cfa == c.registers.at[arch::kStackPointer] && !first) return false;
  registers caller = c.registers;
  if (arch::kReturnAddress == 16) caller.forget(arch::kReturnAddress);
  caller.set(arch::kStackPointer, cfa);
  for (unsigned i = 0; i < r.rules; ++i)
    if (!restore(r.rule_of[i], cfa, c.registers, stack, caller)) return false;
  if (!caller.has(arch::kReturnAddress)) return false;
  c.pc = caller.at[arch::kReturnAddress];
  c.registers = caller;
  c.exact = r.is_signal_frame;
  return c.pc != 0;
}

std::size_t return_addresses(const void* sp, const memory& stack, row_cache* cache,
                             std::uintptr_t* out, std::size_t most) noexcept {
  cursor c = departed_at(sp);
  std::size_t n = 0;
  while (n < most && step(c, stack, cache)) out[n++] = c.pc;
  return n;
}

}  // namespace vole::walk
