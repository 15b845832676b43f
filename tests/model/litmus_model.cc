// The checker against the classic litmus tests, whose verdicts in C++20 are published: Lahav et al.,
// "Repairing Sequential Consistency in C/C++11" (PLDI 2017), and the catalogue of herd.
//
// Law    the checker shows no outcome that is forbidden, and every one that is allowed but those marked
//        left_out: of load buffering (LB) and of stores that change places with older ones (S, 2+2W)
//        it shows what happens in the order of execution only (explore.h says so).
// Note   so it proves nothing about code that relies on the order of a relaxed store behind what its
//        thread did before: such a store must be a release, or have a fence in front.
#include <cstdio>

#include "base/atomic.h"
#include "mutants.h"

namespace {

using namespace vole::base;
using order = std::memory_order;

enum class verdict { forbidden, allowed, left_out };  // left_out: allowed, and not shown

struct strength {
  const char* name;
  order w, r;
  bool fences;  // seq_cst, between the two accesses of each thread that has two
};

constexpr strength kRelaxed{"relaxed", relaxed, relaxed, false};
constexpr strength kReleaseAcquire{"release/acquire", release, acquire, false};
constexpr strength kSeqCst{"seq_cst", seq_cst, seq_cst, false};
constexpr strength kFences{"relaxed, fences", relaxed, relaxed, true};

// What all have: two places, and what was read.
struct two_places {
  strength s;
  atomic<int> x{0}, y{0};
  int r[4] = {};

  explicit two_places(strength with) : s(with) {}
  void between() const {
    if (s.fences) fence_seq_cst();
  }
  void store(atomic<int>& a, int value) { a.store(value, s.w); }
  int load(const atomic<int>& a) const { return a.load(s.r); }
};

// Each asks whether its outcome is possible: finish() calls it a violation.
struct sb : two_places {
  explicit sb(strength with) : two_places(with) {
    model::spawn("left", [this] { store(x, 1), between(), r[0] = load(y); });
    model::spawn("right", [this] { store(y, 1), between(), r[1] = load(x); });
  }
  void finish() { model::require(r[0] != 0 || r[1] != 0, "both read 0"); }
};

struct mp : two_places {
  explicit mp(strength with) : two_places(with) {
    model::spawn("writer", [this] { store(x, 1), between(), store(y, 1); });
    model::spawn("reader", [this] { r[0] = load(y), between(), r[1] = load(x); });
  }
  void finish() { model::require(r[0] != 1 || r[1] != 0, "the flag, and not the data"); }
};

struct lb : two_places {
  explicit lb(strength with) : two_places(with) {
    model::spawn("left", [this] { r[0] = load(x), between(), store(y, 1); });
    model::spawn("right", [this] { r[1] = load(y), between(), store(x, 1); });
  }
  void finish() { model::require(r[0] != 1 || r[1] != 1, "both read what comes later"); }
};

struct iriw : two_places {
  explicit iriw(strength with) : two_places(with) {
    model::spawn("x", [this] { store(x, 1); });
    model::spawn("y", [this] { store(y, 1); });
    model::spawn("xy", [this] { r[0] = load(x), between(), r[1] = load(y); });
    model::spawn("yx", [this] { r[2] = load(y), between(), r[3] = load(x); });
  }
  void finish() {
    model::require(!(r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0), "two orders");
  }
};

struct two_plus_two_w : two_places {
  explicit two_plus_two_w(strength with) : two_places(with) {
    model::spawn("left", [this] { store(x, 1), between(), store(y, 2); });
    model::spawn("right", [this] { store(y, 1), between(), store(x, 2); });
  }
  void finish() {
    model::require(x.load(relaxed) != 1 || y.load(relaxed) != 1, "both first stores came last");
  }
};

struct r_test : two_places {
  explicit r_test(strength with) : two_places(with) {
    model::spawn("left", [this] { store(x, 1), between(), store(y, 1); });
    model::spawn("right", [this] { store(y, 2), between(), r[0] = load(x); });
  }
  void finish() { model::require(y.load(relaxed) != 2 || r[0] != 0, "last, and read 0"); }
};

struct s_test : two_places {
  explicit s_test(strength with) : two_places(with) {
    model::spawn("left", [this] { store(x, 2), between(), store(y, 1); });
    model::spawn("right", [this] { r[0] = load(y), between(), store(x, 1); });
  }
  void finish() {
    model::require(r[0] != 1 || x.load(relaxed) != 2, "overwritten by what came before");
  }
};

template <class Program>
void expect(const char* name, const strength& s, verdict published) {
  const model::outcome o = model::explore<Program>({}, s);
  static constexpr const char* kVerdicts[] = {"forbidden", "allowed", "allowed, left out"};
  std::printf("%-5s %-16s %-18s %-10s %llu executions\n", name, s.name,
              kVerdicts[static_cast<int>(published)], o.caught ? "shown" : "not shown",
              static_cast<unsigned long long>(o.executions));
  EXPECT_TRUE(o.caught || o.complete) << name << ", " << s.name << ": cut by time";
  EXPECT_EQ(o.caught, published == verdict::allowed) << name << ", " << s.name;
}

template <class Program>
void expect_all(const char* name, verdict plain, verdict paired, verdict total, verdict fenced) {
  expect<Program>(name, kRelaxed, plain);
  expect<Program>(name, kReleaseAcquire, paired);
  expect<Program>(name, kSeqCst, total);
  expect<Program>(name, kFences, fenced);
}

TEST(Litmus, AreAsPublished) {
  constexpr auto no = verdict::forbidden, yes = verdict::allowed, out = verdict::left_out;
  expect_all<sb>("SB", yes, yes, no, no);
  expect_all<mp>("MP", yes, no, no, no);
  expect_all<lb>("LB", out, no, no, no);
  expect_all<iriw>("IRIW", yes, yes, no, no);
  expect_all<two_plus_two_w>("2+2W", out, out, no, no);
  expect_all<r_test>("R", yes, yes, no, no);
  expect_all<s_test>("S", out, no, no, no);
}

// One side's strength is not enough.
struct half : two_places {
  explicit half(bool writer) : two_places(kRelaxed) {
    model::spawn("writer", [this, writer] {
      x.store(1, relaxed);
      if (writer) fence_seq_cst();
      y.store(1, relaxed);
    });
    model::spawn("reader", [this, writer] {
      r[0] = y.load(relaxed);
      if (!writer) fence_seq_cst();
      r[1] = x.load(relaxed);
    });
  }
  void finish() { model::require(r[0] != 1 || r[1] != 0, "the flag, and not the data"); }
};

TEST(Litmus, AFenceOnOneSideIsNotEnough) {
  EXPECT_TRUE(model::explore<half>({}, true).caught) << "the writer's";
  EXPECT_TRUE(model::explore<half>({}, false).caught) << "the reader's";
}

}  // namespace
