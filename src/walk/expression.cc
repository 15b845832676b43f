#include "walk/expression.h"

#include <utility>

namespace vole::walk {
namespace {

constexpr unsigned kMost = 16;
constexpr unsigned kSteps = 256;

enum op : std::uint8_t {
  kAddr = 0x03,
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s,
  kConst2u,
  kConst2s,
  kConst4u,
  kConst4s,
  kConst8u,
  kConst8s,
  kConstu,
  kConsts,
  kDup,
  kDrop,
  kOver,
  kPick,
  kSwap,
  kRot,
  kAbs = 0x19,
  kAnd,
  kDiv,
  kMinus,
  kMod,
  kMul,
  kNeg,
  kNot,
  kOr,
  kPlus,
  kPlusUconst,
  kShl,
  kShr,
  kShra,
  kXor,
  kBra,
  kEq,
  kGe,
  kGt,
  kLe,
  kLt,
  kNe,
  kSkip,
  kLit0 = 0x30,
  kBreg0 = 0x70,
  kBregx = 0x92,
  kDerefSize = 0x94,
  kNop = 0x96,
};

using word = std::uintptr_t;
using sword = std::intptr_t;

struct machine {
  const arch::registers& r;
  const memory& m;
  word stack[kMost];
  unsigned n = 0;
  bool bad = false;

  void push(word v) noexcept {
    if (n == kMost)
      bad = true;
    else
      stack[n++] = v;
  }
  word pop() noexcept {
    if (n == 0) bad = true;
    return n == 0 ? 0 : stack[--n];
  }
  void push_register(std::uint64_t number, std::int64_t offset) noexcept {
    if (number >= arch::kRegisters || !r.has(static_cast<unsigned>(number)))
      bad = true;
    else
      push(r.at[number] + static_cast<word>(offset));
  }
  void deref(unsigned size) noexcept {
    word v = 0;
    const word at = pop();
    if (size != sizeof(word) || !m.read(at, &v)) bad = true;
    push(v);
  }
};

// Operations on the two topmost words: a is below b.
bool binary(std::uint8_t o, word a, word b, word* v) noexcept {
  const auto sa = static_cast<sword>(a), sb = static_cast<sword>(b);
  switch (o) {
    case kAnd: *v = a & b; return true;
    case kMinus: *v = a - b; return true;
    case kMul: *v = a * b; return true;
    case kOr: *v = a | b; return true;
    case kPlus: *v = a + b; return true;
    case kXor: *v = a ^ b; return true;
    case kShl: *v = b < 64 ? a << b : 0; return true;
    case kShr: *v = b < 64 ? a >> b : 0; return true;
    case kShra: *v = static_cast<word>(sa >> (b < 64 ? b : 63)); return true;
    case kEq: *v = a == b; return true;
    case kNe: *v = a != b; return true;
    case kGe: *v = sa >= sb; return true;
    case kGt: *v = sa > sb; return true;
    case kLe: *v = sa <= sb; return true;
    case kLt: *v = sa < sb; return true;
    default: return false;
  }
}

// True: it was one of these.
bool constant(std::uint8_t o, bytes& in, machine& x) noexcept {
  const auto wide = [](std::int64_t v) { return static_cast<word>(v); };
  switch (o) {
    case kAddr: x.push(in.number<word>()); return true;
    case kConst1u: x.push(in.number<std::uint8_t>()); return true;
    case kConst1s: x.push(wide(in.number<std::int8_t>())); return true;
    case kConst2u: x.push(in.number<std::uint16_t>()); return true;
    case kConst2s: x.push(wide(in.number<std::int16_t>())); return true;
    case kConst4u: x.push(in.number<std::uint32_t>()); return true;
    case kConst4s: x.push(wide(in.number<std::int32_t>())); return true;
    case kConst8u:
    case kConst8s: x.push(in.number<std::uint64_t>()); return true;
    case kConstu: x.push(in.uleb()); return true;
    case kConsts: x.push(wide(in.sleb())); return true;
    default: return false;
  }
}

// True: it was one of these.
bool arrangement(std::uint8_t o, bytes& in, machine& x) noexcept {
  const word top = x.n != 0 ? x.stack[x.n - 1] : 0;
  switch (o) {
    case kNop: return true;
    case kDup: x.n != 0 ? x.push(top) : void(x.bad = true); return true;
    case kDrop: x.pop(); return true;
    case kOver:
    case kPick: {
      const unsigned depth = o == kOver ? 1 : in.byte();
      depth < x.n ? x.push(x.stack[x.n - 1 - depth]) : void(x.bad = true);
      return true;
    }
    case kSwap:
      x.n >= 2 ? std::swap(x.stack[x.n - 1], x.stack[x.n - 2]) : void(x.bad = true);
      return true;
    case kNeg: x.push(-x.pop()); return true;
    case kNot: x.push(~x.pop()); return true;
    case kPlusUconst: x.push(x.pop() + in.uleb()); return true;
    case kDeref: x.deref(sizeof(word)); return true;
    case kDerefSize: x.deref(in.byte()); return true;
    case kBregx: {
      const std::uint64_t number = in.uleb();
      x.push_register(number, in.sleb());
      return true;
    }
    default: return false;
  }
}

void one_step(std::uint8_t o, bytes& in, machine& x) noexcept {
  if (o >= kLit0 && o < kLit0 + 32) return x.push(o - kLit0);
  if (o >= kBreg0 && o < kBreg0 + 32) return x.push_register(o - kBreg0, in.sleb());
  if (constant(o, in, x) || arrangement(o, in, x)) return;
  const word b = x.pop(), a = x.pop();
  word v = 0;
  if (!binary(o, a, b, &v))
    x.bad = true;  // branches and divisions: no table of a compiler has them
  x.push(v);
}

}  // namespace

bool evaluate(bytes program, const arch::registers& r, const memory& m, const word* first,
              word* result) noexcept {
  machine x{r, m, {}, 0, false};
  if (first != nullptr) x.push(*first);
  for (unsigned i = 0; i < kSteps && program.more() && !x.bad; ++i)
    one_step(program.byte(), program, x);
  if (x.bad || program.bad() || program.more() || x.n == 0) return false;
  *result = x.stack[x.n - 1];
  return true;
}

}  // namespace vole::walk
