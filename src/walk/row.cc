#include "walk/row.h"

#include <utility>

namespace vole::walk {
namespace {

using arch::kRegisters;
constexpr unsigned kNested = 8;  // DW_CFA_remember_state

enum : std::uint8_t {
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,  // the operand is in the lower six bits
  kNop = 0x00,
  kSetLoc,
  kAdvance1,
  kAdvance2,
  kAdvance4,
  kOffsetExtended,
  kRestoreExtended,
  kUndefined,
  kSameValue,
  kRegister,
  kRemember,
  kRestoreState,
  kDefCfa,
  kDefCfaRegister,
  kDefCfaOffset,
  kDefCfaExpression,
  kExpression,
  kOffsetExtendedSf,
  kDefCfaSf,
  kDefCfaOffsetSf,
  kValOffset,
  kValOffsetSf,
  kValExpression,
  kNegateRaState = 0x2d,
  kArgsSize = 0x2e,
  kNegativeOffset = 0x2f,
};

struct state {
  rule cfa;
  rule of[kRegisters];
};

// Runs the instructions of an entry up to a program counter.
class interpreter {
 public:
  interpreter(const table_entry& e, std::uintptr_t pc) noexcept : e_(e), pc_(pc), at_(e.from) {}

  bool run() noexcept {
    if (!run(e_.common)) return false;
    initial_ = now_;
    return run(e_.own);
  }
  const state& result() const noexcept { return now_; }

 private:
  bool run(bytes in) noexcept {
    while (in.more() && !bad_ && at_ <= pc_) step(in);
    return !bad_ && !in.bad();
  }
  void set(std::uint64_t reg, rule r) noexcept {
    if (reg >= kRegisters) return;  // of no use here: vector registers
    r.reg = static_cast<std::uint8_t>(reg);
    now_.of[reg] = r;
  }
  static rule with(how kind, std::int64_t value) noexcept {
    rule r;
    r.kind = kind;
    r.value = value;
    return r;
  }
  static rule with(how kind, bytes program) noexcept {
    rule r;
    r.kind = kind;
    r.size = static_cast<std::uint32_t>(program.end() - program.at());
    r.program = program.at();
    return r;
  }
  void set_cfa(std::uint64_t reg, std::int64_t offset) noexcept {
    if (reg >= kRegisters) bad_ = true;
    now_.cfa = with(how::in_register, offset);
    now_.cfa.reg = static_cast<std::uint8_t>(reg);
  }
  void advance(std::uint64_t by) noexcept { at_ += by * e_.code_align; }
  // Modulo 2^64: a damaged table may say anything, and then the read fails.
  std::int64_t scaled(std::uint64_t n) const noexcept {
    return static_cast<std::int64_t>(n * static_cast<std::uint64_t>(e_.data_align));
  }
  std::int64_t scaled(std::int64_t n) const noexcept {
    return scaled(static_cast<std::uint64_t>(n));
  }

  void step(bytes& in) noexcept {
    const std::uint8_t b = in.byte();
    const std::uint8_t low = b & 0x3f;
    switch (b & 0xc0) {
      case kAdvance: return advance(low);
      case kOffset: return set(low, with(how::at_cfa, scaled(in.uleb())));
      case kRestore: return restore(low);
      default: return extended(b, in);
    }
  }
  void restore(std::uint64_t reg) noexcept {
    if (reg < kRegisters) now_.of[reg] = initial_.of[reg];
  }
  void extended(std::uint8_t b, bytes& in) noexcept {
    switch (b) {
      case kNop:
      case kNegateRaState: return;
      case kSetLoc: at_ = in.pointer(e_.encoding, 0); return;
      case kAdvance1: return advance(in.byte());
      case kAdvance2: return advance(in.number<std::uint16_t>());
      case kAdvance4: return advance(in.number<std::uint32_t>());
      case kRestoreExtended: return restore(in.uleb());
      case kArgsSize: in.uleb(); return;
      case kRemember: return remember();
      case kRestoreState: return recall();
      default: break;
    }
    if (b == kDefCfa || (b >= kDefCfaRegister && b <= kDefCfaExpression) || b == kDefCfaSf ||
        b == kDefCfaOffsetSf)
      return define_cfa(b, in);
    define_register(b, in);
  }
  void define_cfa(std::uint8_t b, bytes& in) noexcept {
    // A program has neither register nor offset that could be changed.
    const bool changes = b == kDefCfaRegister || b == kDefCfaOffset || b == kDefCfaOffsetSf;
    if (changes && now_.cfa.kind == how::is_program) {
      bad_ = true;
      return;
    }
    switch (b) {
      case kDefCfaExpression: now_.cfa = with(how::is_program, in.block(in.uleb())); return;
      case kDefCfaRegister: return set_cfa(in.uleb(), now_.cfa.value);
      case kDefCfaOffset: now_.cfa.value = static_cast<std::int64_t>(in.uleb()); return;
      case kDefCfaOffsetSf: now_.cfa.value = scaled(in.sleb()); return;
      default: break;
    }
    const std::uint64_t reg = in.uleb();
    set_cfa(reg, b == kDefCfa ? static_cast<std::int64_t>(in.uleb()) : scaled(in.sleb()));
  }
  void define_register(std::uint8_t b, bytes& in) noexcept {
    const std::uint64_t reg = in.uleb();
    switch (b) {
      case kOffsetExtended: return set(reg, with(how::at_cfa, scaled(in.uleb())));
      case kOffsetExtendedSf: return set(reg, with(how::at_cfa, scaled(in.sleb())));
      case kNegativeOffset: return set(reg, with(how::at_cfa, scaled(std::uint64_t{0} - in.uleb())));
      case kValOffset: return set(reg, with(how::is_cfa, scaled(in.uleb())));
      case kValOffsetSf: return set(reg, with(how::is_cfa, scaled(in.sleb())));
      case kUndefined: return set(reg, with(how::lost, 0));
      case kSameValue: return set(reg, with(how::same, 0));
      case kRegister: return set(reg, with(how::in_register, static_cast<std::int64_t>(in.uleb())));
      case kExpression: return set(reg, with(how::at_program, in.block(in.uleb())));
      case kValExpression: return set(reg, with(how::is_program, in.block(in.uleb())));
      default: bad_ = true;
    }
  }
  void remember() noexcept {
    if (nested_ == kNested)
      bad_ = true;
    else
      remembered_[nested_++] = now_;
  }
  void recall() noexcept {
    if (nested_ == 0)
      bad_ = true;
    else
      now_ = remembered_[--nested_];
  }

  const table_entry& e_;
  const std::uintptr_t pc_;
  std::uintptr_t at_;
  state now_, initial_;
  state remembered_[kNested];
  unsigned nested_ = 0;
  bool bad_ = false;
};

}  // namespace

void compute_row(std::uintptr_t pc, row* r) noexcept {
  *r = row{};
  r->pc = pc;
  table_entry e;
  if (!find_entry(pc, &e) || e.return_register != arch::kReturnAddress) return;
  interpreter program(e, pc);
  if (!program.run()) return;
  const state& s = program.result();
  if (s.cfa.kind != how::in_register && s.cfa.kind != how::is_program) return;
  r->cfa = s.cfa;
  r->is_signal_frame = e.is_signal_frame;
  for (const rule& each : s.of) {
    if (each.kind == how::same) continue;
    if (r->rules == row::kMostRules) return;
    r->rule_of[r->rules++] = each;
  }
  r->usable = true;
}

}  // namespace vole::walk
