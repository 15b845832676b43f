// The walker against the compiler's own unwinder, on stacks that real code left; and on stacks that
// somebody has damaged.

#include "walk/walk.h"

#include <gtest/gtest.h>
#include <unwind.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <vole/vole.h>

#include "gmp/g.h"
#include "sched/state.h"
#include "walk/expression.h"

namespace vole::walk {
namespace {

std::vector<std::uintptr_t> unwound() {
  std::vector<std::uintptr_t> pcs;
  _Unwind_Backtrace(
      [](_Unwind_Context* c, void* to) {
        const std::uintptr_t pc = _Unwind_GetIP(c);  // 0 above the first frame
        if (pc != 0) static_cast<std::vector<std::uintptr_t>*>(to)->push_back(pc);
        return _URC_NO_REASON;
      },
      &pcs);
  return pcs;
}

// Frames of many kinds under a goroutine that parks: deep, with a variable-length array, with a
// realigned stack, with all callee-saved registers in use.
struct party {
  std::vector<std::uintptr_t> expected;  // from the frame that calls wait()
  vole::chan<int> gate;

  [[gnu::noinline]] int wait() {
    expected = unwound();
    return gate.recv().value_or(0);
  }
  [[gnu::noinline]] int aligned(int n) {
    alignas(128) volatile char room[256];
    room[n % 256] = 1;
    return (n == 0 ? wait() : recurse(n - 1)) + room[n % 256];
  }
  [[gnu::noinline]] int variable(int n) {
    auto* const room =
        static_cast<volatile char*>(__builtin_alloca(static_cast<std::size_t>(64 + n)));
    room[n] = 1;
    return aligned(n) + room[n];
  }
  [[gnu::noinline]] int recurse(int n) {
    const int a = n * 3, b = n * 5, c = n * 7, d = n * 11, e = n * 13;
    return variable(n) + a + b + c + d + e;
  }
};

rt::G* find_parked() {
  rt::G* found = nullptr;
  rt::g_slab.for_each([&](rt::G* g) {
    if (rt::status_of(*g) == rt::g_status::waiting && g->why == rt::wait_reason::chan_recv)
      found = g;
  });
  return found;
}

memory stack_of(const rt::G& g) {
  const auto from = reinterpret_cast<std::uintptr_t>(g.stack.lo);
  return {from, from + g.stack.bytes};
}

template <class Fn>
void with_parked(int depth, Fn fn) {
  vole::run([&] {
    party p;
    vole::wait_group done;
    done.go([&] { p.recurse(depth); });
    rt::G* g = nullptr;
    while ((g = find_parked()) == nullptr) vole::yield();
    fn(p, *g);
    p.gate.send(1);
    done.wait();
  });
}

TEST(Walk, FindsTheFramesThatTheUnwinderFinds) {
  for (const bool cached : {false, true})
    with_parked(20, [&](const party& p, const rt::G& g) {
      const auto rows = std::make_unique<row_cache>();
      std::uintptr_t pcs[200];
      const std::size_t n = return_addresses(g.sp.load(base::relaxed), stack_of(g),
                                             cached ? rows.get() : nullptr, pcs, std::size(pcs));
      // The innermost frames differ: there the unwinder was called, here the goroutine parked.
      // From wait()'s caller on they are the same, to the first frame of the stack.
      ASSERT_GE(p.expected.size(), 60u);
      ASSERT_GE(n, 60u);
      const std::size_t same = p.expected.size() - 2;  // without unwound() and wait() themselves
      ASSERT_GE(n, same);
      for (std::size_t i = 1; i <= same; ++i)
        EXPECT_EQ(pcs[n - i], p.expected[p.expected.size() - i])
            << "frame " << i << " from the end";
    });
}

TEST(Walk, StopsAtAsManyAsAsked) {
  with_parked(20, [&](const party&, const rt::G& g) {
    std::uintptr_t pcs[8];
    EXPECT_EQ(return_addresses(g.sp.load(base::relaxed), stack_of(g), nullptr, pcs, 8), 8u);
    EXPECT_EQ(return_addresses(g.sp.load(base::relaxed), stack_of(g), nullptr, pcs, 0), 0u);
  });
}

// Any bytes: the walk ends, and reads nothing outside. A copy, so that a byte outside is a fault
// under AddressSanitizer and valgrind.
TEST(Walk, ADamagedStackEndsTheWalk) {
  with_parked(3, [&](const party&, const rt::G& g) {
    std::mt19937 random(7);
    auto* const sp = static_cast<std::byte*>(g.sp.load(base::relaxed));
    const std::size_t used = static_cast<std::size_t>(g.stack.lo + g.stack.bytes - sp);
    for (int round = 0; round < 2000; ++round) {
      std::vector<std::uintptr_t> copy(used / sizeof(std::uintptr_t));
      const auto from = reinterpret_cast<std::uintptr_t>(copy.data());
      for (std::size_t i = 0; i < copy.size(); ++i) {
        ASSERT_TRUE(stack_of(g).read(reinterpret_cast<std::uintptr_t>(sp) + i * 8, &copy[i]));
        if (random() % 16 == 0) copy[i] = random() % 2 == 0 ? random() : copy[i] + random() % 64;
      }
      std::uintptr_t pcs[100];
      return_addresses(copy.data(), {from, from + copy.size() * 8}, nullptr, pcs, std::size(pcs));
    }
  });
}

TEST(Walk, ReadsOnlyWholeWordsOfTheStack) {
  alignas(8) std::uintptr_t words[4] = {1, 2, 3, 4};
  const auto from = reinterpret_cast<std::uintptr_t>(words);
  const memory m{from, from + sizeof words};
  std::uintptr_t v = 0;
  EXPECT_TRUE(m.read(from + 24, &v));
  EXPECT_EQ(v, 4u);
  EXPECT_FALSE(m.read(from + 25, &v));
  EXPECT_FALSE(m.read(from + 32, &v));
  EXPECT_FALSE(m.read(from - 8, &v));
  EXPECT_FALSE(m.read(~std::uintptr_t{7}, &v));
}

TEST(Expression, IsBoundedAndChecked) {
  arch::registers r;
  r.set(arch::kStackPointer, 0x1000);
  const memory none;
  const auto value = [&](std::initializer_list<std::uint8_t> code) -> std::int64_t {
    const std::vector<std::uint8_t> bytes_of(code);
    std::uintptr_t v = 0;
    const bool ok =
        evaluate({bytes_of.data(), bytes_of.data() + bytes_of.size()}, r, none, nullptr, &v);
    return ok ? static_cast<std::int64_t>(v) : -1;
  };
  const auto breg = static_cast<std::uint8_t>(0x70 + arch::kStackPointer);
  EXPECT_EQ(value({breg, 0x10}), 0x1010);
  EXPECT_EQ(value({breg, 0x08, 0x38, 0x22}), 0x1010);  // + 8
  EXPECT_EQ(value({0x35, 0x33, 0x1c}), 2);             // 5 - 3
  EXPECT_EQ(value({0x22}), -1);                        // nothing to add
  EXPECT_EQ(value({breg}), -1);                        // cut off
  EXPECT_EQ(value({0x06}), -1);                        // nothing to read
  EXPECT_EQ(value({0x31, 0x06}), -1);                  // outside the stack
  EXPECT_EQ(value({0x2f, 0xfd, 0xff}), -1);            // a jump back
  EXPECT_EQ(value({}), -1);
}

TEST(Rows, UnknownCodeHasNone) {
  row r;
  compute_row(0x10, &r);
  EXPECT_FALSE(r.usable);
  compute_row(reinterpret_cast<std::uintptr_t>(&r), &r);  // not code
  EXPECT_FALSE(r.usable);
}

}  // namespace
}  // namespace vole::walk
