// queue/local_queue.h on the checker: one owner, one or two thieves, small rings.
//
// Law    every element leaves the ring exactly once, the owner's in order but for the
//        newest that it takes back; what its pusher wrote is visible to whoever runs
//        it; nobody sees a ring empty that is not, unless the owner is taking the last
//        one; a slot is reused only after the read that counts.
// Note   the last of these cannot show in a value here (a load never returns a later
//        store), so it is checked by clocks: `reuse` below.
#include "queue/local_queue.h"

#include "faulty_queue.h"
#include "mutants.h"

namespace {

using namespace vole::base;
using vole::rt::basic_local_queue;
using vole::rt::runnable;

struct item : runnable {
  model::var<int> payload;
  int order = 0;
  std::uint32_t slot = 0;
  int taken = 0;
};

struct plan {
  int before = 0;        // pushed before anybody runs
  const char* owner = "";  // u: push, o: pop, n: pop the newest, y: yield; in this order
  int thieves = 1;
  int steals = 1;        // tries of each
  int sure = 0;          // so many of the first thief's steals must succeed
  bool pop_sure = false;  // and every pop
  std::uint32_t first = 0;
};

struct weak {
  bool back = false;          // published relaxed
  bool look = false;          // read by thieves relaxed
  bool claim = false;         // relaxed
  bool torn = false;          // load, then store
  bool owner_front = false;   // read by the owner relaxed
};

template <class Queue>
struct stealing {
  static constexpr int kItems = 8;
  static constexpr std::uint32_t kCapacity = Queue::kCapacity;
  Queue mine, theirs[2];
  item items[kItems];
  model::race_check reuse[kCapacity];
  plan what;
  int pushed = 0, last_out = 0;
  std::uint32_t back;

  stealing(plan p, weak w) : what(p), back(p.first) {
    const int front_word = model::atomic_in(mine, 0), back_word = model::atomic_in(mine, 1);
    model::name(front_word, "front");
    model::name(back_word, "back");
    model::preset(front_word, p.first);
    model::preset(back_word, p.first);
    for (int i = 0; i < p.before; ++i) push();
    model::spawn("owner", [this] { own(); });
    for (int i = 0; i < p.thieves; ++i)
      model::spawn(i == 0 ? "thief" : "thief2", [this, i] { steal(i); });
    if (w.back) model::weaken(back_word, model::access::store, relaxed);
    if (w.look) model::weaken(back_word, model::access::load, relaxed);
    if (w.claim) model::weaken(front_word, model::access::rmw, relaxed);
    if (w.torn) model::tear(front_word);
    if (w.owner_front) model::weaken(front_word, model::access::load, relaxed, 1);
  }

  void own() {
    for (const char* c = what.owner; *c != 0; ++c) {
      if (*c == 'u') {
        push();
      } else if (*c == 'y') {
        yield();
      } else if (*c == 'n') {
        if (runnable* g = mine.pop_newest_owner(0)) take_back(g);
      } else if (runnable* g = mine.pop_owner(); g != nullptr) {
        out(g);
      } else {
        model::require(!what.pop_sure, "the owner saw its ring empty");
      }
    }
  }

  void push() {
    item& it = items[pushed];
    it.order = ++pushed;
    it.slot = back % kCapacity;
    it.payload = it.order;
    const std::uint32_t begun = model::stamp();
    while (!mine.push_newest_owner(&it)) {
      runnable* half[Queue::kHalf];
      if (mine.spill_half_owner(half))
        for (runnable* g : half) out(g);
    }
    reuse[it.slot].was_written(begun);
    ++back;
  }

  // Takes the oldest, and goes to the back in two halves. Between them, and no later, the one that
  // yields saves its context.
  void yield() {
    runnable* const next = mine.pop_owner();
    if (next == nullptr) return;  // goes on
    item& it = items[pushed];
    it.order = ++pushed;
    it.slot = back % kCapacity;
    const std::uint32_t begun = model::stamp();
    const auto [word, published] = mine.begin_push_owner(&it);
    it.payload = it.order;
    word->store(published, std::memory_order_release);  // the door's store
    reuse[it.slot].was_written(begun);
    ++back;
    out(next);
  }

  void out(runnable* g) {
    item& it = *static_cast<item*>(g);
    model::require(it.order > last_out, "the owner got them out of order");
    last_out = it.order;
    run(it);
  }

  void take_back(runnable* g) {
    item& it = *static_cast<item*>(g);
    model::require(it.slot == --back % kCapacity, "not the newest");
    run(it);
  }

  void run(item& it) {
    model::require(it.payload.get() == it.order, "old payload");
    model::require(++it.taken == 1, "taken twice");
  }

  void steal(int i) {
    Queue& own_ring = theirs[i];
    for (int n = 0; n < what.steals; ++n) {
      const std::uint32_t begun = model::stamp();
      runnable* g = own_ring.steal_half_owner(mine);
      if (g == nullptr) {
        model::require(i != 0 || n >= what.sure, "a thief saw the ring empty");
        continue;
      }
      item& it = *static_cast<item*>(g);
      run(it);
      reuse[it.slot].was_read(begun);
      while ((g = own_ring.pop_owner()) != nullptr) run(*static_cast<item*>(g));
    }
  }

  void finish() {
    while (runnable* g = mine.pop_owner()) out(g);
    for (int i = 0; i < pushed; ++i) model::require(items[i].taken == 1, "an element is lost");
  }
};

constexpr std::uint32_t kEdge = 0xffff'fffe;
template <std::uint32_t N>
using shipped = stealing<basic_local_queue<N>>;

TEST(LocalQueue, EachElementOnceWithOneThief) {
  const model::options o{.seconds = 1.5};
  model::holds<shipped<2>>("ring of 2: pushes, pops, 1 thief", o,
                           plan{.before = 1, .owner = "uouo", .steals = 2}, weak{});
  model::holds<shipped<2>>("ring of 2: spills", o, plan{.before = 2, .owner = "uuo"}, weak{});
  model::holds<shipped<2>>("ring of 2: indices wrap", o,
                           plan{.before = 1, .owner = "uuo", .steals = 2, .first = kEdge}, weak{});
  model::holds<shipped<4>>("ring of 4: pushes, pops, 1 thief", o,
                           plan{.before = 3, .owner = "uoou", .steals = 2}, weak{});
  model::holds<shipped<4>>("ring of 4: spills", o, plan{.before = 4, .owner = "uo"}, weak{});
}

TEST(LocalQueue, EachElementOnceWithTwoThieves) {
  model::holds<shipped<2>>("ring of 2: 2 thieves, a pop", {.seconds = 2},
                           plan{.before = 2, .owner = "o", .thieves = 2}, weak{});
  model::holds<shipped<2>>("ring of 2: 2 thieves, a push", {.seconds = 2},
                           plan{.before = 1, .owner = "u", .thieves = 2}, weak{});
  model::holds<shipped<4>>("ring of 4: 2 thieves", {.preemptions = 1, .seconds = 2},
                           plan{.before = 3, .owner = "uou", .thieves = 2, .first = kEdge}, weak{});
  model::holds<shipped<4>>("ring of 4: 2 thieves, twice each", {.random = 30'000},
                           plan{.before = 4, .owner = "uouo", .thieves = 2, .steals = 2}, weak{});
}

TEST(LocalQueue, YieldsInTwoHalves) {
  const model::options o{.seconds = 1.5};
  model::holds<shipped<2>>("ring of 2: yields, 1 thief", o,
                           plan{.before = 2, .owner = "yyo", .steals = 2}, weak{});
  model::holds<shipped<2>>("ring of 2: yields, the newest; indices wrap", o,
                           plan{.before = 1, .owner = "uyun", .first = kEdge}, weak{});
  model::holds<shipped<4>>("ring of 4: yields when full, 1 thief", o,
                           plan{.before = 4, .owner = "yyu"}, weak{});
  model::holds<shipped<2>>("ring of 2: a yield, 2 thieves", {.seconds = 2},
                           plan{.before = 2, .owner = "y", .thieves = 2}, weak{});
}

TEST(LocalQueue, TheNewestOnceWithOneThief) {
  const model::options o{.seconds = 1.5};
  model::holds<shipped<2>>("ring of 2: the newest", o, plan{.before = 2, .owner = "nun"}, weak{});
  model::holds<shipped<2>>("ring of 2: the newest, the oldest", o,
                           plan{.before = 2, .owner = "nuo", .steals = 2}, weak{});
  model::holds<shipped<2>>("ring of 2: the newest; indices wrap", o,
                           plan{.before = 1, .owner = "unun", .steals = 2, .first = kEdge}, weak{});
  model::holds<shipped<2>>("ring of 2: two, then the newest", o, plan{.owner = "uun"}, weak{});
  model::holds<shipped<4>>("ring of 4: two, then both", o, plan{.owner = "uunn"}, weak{});
  model::holds<shipped<4>>("ring of 4: the newest, twice", o,
                           plan{.before = 4, .owner = "nnuu"}, weak{});
  model::holds<shipped<4>>("ring of 4: all the newest", o, plan{.before = 4, .owner = "nnnn"}, weak{});
}

TEST(LocalQueue, TheNewestOnceWithTwoThieves) {
  model::holds<shipped<2>>("ring of 2: the newest, 2 thieves", {.seconds = 2},
                           plan{.before = 2, .owner = "nu", .thieves = 2}, weak{});
  model::holds<shipped<4>>("ring of 4: the newest, 2 thieves", {.preemptions = 2, .seconds = 3},
                           plan{.before = 4, .owner = "nnu", .thieves = 2}, weak{});
  model::holds<shipped<4>>("ring of 4: the newest, 2 thieves, twice each", {.random = 30'000},
                           plan{.before = 4, .owner = "nunnuu", .thieves = 2, .steals = 2}, weak{});
}

TEST(LocalQueue, NobodySeesItFalselyEmpty) {
  const model::options o{.seconds = 1};
  model::holds<shipped<4>>("ring of 4: a thief always finds", o,
                           plan{.before = 2, .owner = "uu", .steals = 2, .sure = 2}, weak{});
  model::holds<shipped<4>>("ring of 4: the owner always finds", o,
                           plan{.before = 4, .owner = "oo", .pop_sure = true}, weak{});
}

TEST(LocalQueue, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  const plan small{.before = 1, .owner = "uouo", .steals = 2};
  const plan full{.before = 2, .owner = "uu"};
  model::catches<shipped<2>>("ring: back published relaxed", o, small, weak{.back = true});
  model::catches<shipped<2>>("ring: look relaxed", o, small, weak{.look = true});
  model::catches<shipped<2>>("ring: claim not atomic", o, small, weak{.torn = true});
  model::catches<shipped<2>>("ring: claim relaxed", o, full, weak{.claim = true});
  model::catches<shipped<2>>("ring: reuse without acquire", o, full, weak{.owner_front = true});
  model::catches<stealing<faulty_queue<2, fault::publishes_first>>>(
      "ring: published before the slot", o, small, weak{});
  model::catches<stealing<faulty_queue<2, fault::claims_first>>>("ring: claimed before the copy",
                                                                 o, small, weak{});
  model::catches<stealing<faulty_queue<2, fault::never_full>>>("ring: pushed when full", o, full,
                                                               weak{});
  model::catches<stealing<faulty_queue<4, fault::publishes_all>>>(
      "ring: the returned one published too", o, plan{.before = 4}, weak{});
  model::catches<stealing<faulty_queue<4, fault::forgets_rest>>>(
      "ring: the rest not published", o, plan{.before = 4}, weak{});
  model::catches<stealing<faulty_queue<4, fault::pops_unclaimed>>>(
      "ring: the owner pops without a claim", o, plan{.before = 1, .owner = "o"}, weak{});
  const plan yields{.before = 2, .owner = "yy", .steals = 2};
  model::catches<shipped<2>>("ring, yield: back published relaxed", o, yields, weak{.back = true});
  model::catches<stealing<faulty_queue<2, fault::publishes_first>>>(
      "ring, yield: published before the context is saved", o, yields, weak{});
  for (const plan& p : {small, yields})
    model::holds<stealing<faulty_queue<2, fault::none>>>("ring: the mutants' common text", o, p,
                                                         weak{});
}

TEST(LocalQueue, MutantsOfTheNewestAreCaught) {
  const model::options o{.seconds = 5};
  const plan last{.before = 1, .owner = "no"}, both{.before = 2, .owner = "nu"};
  const plan deep{.before = 4, .owner = "nnn"};
  model::catches<shipped<2>>("ring, newest: claim relaxed", o, last, weak{.claim = true});
  model::catches<shipped<2>>("ring, newest: claim not atomic", o, both, weak{.torn = true});
  model::catches<stealing<faulty_queue<4, fault::turns_uncounted>>>(
      "ring, newest: no turn is counted", o, deep, weak{});
  model::catches<stealing<faulty_queue<2, fault::hides_late>>>(
      "ring, newest: hidden after the claim", o, last, weak{});
  model::catches<stealing<faulty_queue<2, fault::hides_relaxed>>>(
      "ring, newest: hidden relaxed", o, plan{.owner = "uun"}, weak{});
  model::catches<stealing<faulty_queue<2, fault::stays_hidden>>>(
      "ring, newest: hidden for good", o, last, weak{});
  model::holds<stealing<faulty_queue<4, fault::none>>>("ring, newest: the mutants' common text", o,
                                                       deep, weak{});
}

}  // namespace
