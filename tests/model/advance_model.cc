// trace/advance.h on the checker: Ms write events, come and go and sleep, while the writer closes a
// generation.
//
// Law    when the writer has closed it, every event of the generation is in a chunk that the writer
//        has, and nobody writes there any more. An event that follows another, of whichever thread, is
//        in the same generation or a later one.
#include "trace/advance.h"

#include "base/system.h"

#include "gmp/hot_words.h"
#include "mutants.h"

namespace {

using namespace vole::base;
namespace tr = vole::rt::trace;

constexpr std::uint32_t kOld = 1, kNew = 2;
constexpr int kMs = 2, kChunks = 3, kLooks = 2;

struct proc {};

struct chunk {
  model::var<std::uint32_t> generation{0};
  model::var<int> events{0};  // its owner's, then the writer's
  chunk* next = nullptr;
};

struct pencil {
  atomic<std::uint32_t> stamp{kOld};
  atomic<chunk*> buffer{nullptr};
};

struct machine {
  vole::rt::hot_words<proc> hot;
  pencil trace;
  chunk chunks[kChunks];
  int used = 0;             // its own
  int written[3] = {};      // by generation; looked at in finish
  atomic<std::uint32_t> own_word{kOld};
};

enum class fault {
  none,
  no_barrier,
  barrier_first,        // A2 before A1
  does_not_wait,        // A3 is left out
  quiet_ends_late,      // writes while it is quiet still
  moves_on_too_early,   // says so before the old chunk is submitted
  leaves_relaxed,       // in_rt = 0 without a release
  takes_whatever,       // A4 without a look at what is there
  takes_once,           // A4: what the M has taken itself is not waited for
  a_word_for_each,      // a generation's number in every M
};

enum class life { busy, sleeps, tells };

struct house {
  machine ms[kMs];
  atomic<std::uint32_t> word{kOld};
  model::mutex lock;
  model::var<chunk*> full{nullptr};  // under lock
  atomic<std::uint32_t> told{0};     // the generation of an event that m1 follows
  int closed = -1;                   // events of the old generation that the writer has; -1: it waits
  int looks = 0;
  atomic<std::uint32_t> never{0};
  fault f;

  house(fault which, life how) : f(which) {
    model::name(model::atomic_in(word), "stamp");
    for (machine& m : ms) {
      open(m, kOld);
      m.hot.in_rt.store(0, relaxed);
    }
    if (f == fault::no_barrier) model::drop(model::call::membarrier);
    if (f == fault::leaves_relaxed)
      model::weaken(model::atomic_in(ms[0].hot, 0), model::access::store, relaxed);
    model::spawn("m0", [this, how] { live(ms[0], how); });
    if (how == life::tells) model::spawn("m1", [this] { follow(ms[1]); });
    model::spawn_daemon("writer", [this] { close(); });
  }

  // ── the Env ──
  atomic<std::uint32_t>& stamp() { return word; }
  void membarrier() { model::membarrier(); }
  // It looks a few times. What happens if it has to look for ever is no concern of this model's.
  void pause() {
    if (++looks > kLooks) futex_wait(&never, 0);
  }
  template <class Fn>
  void each_m(Fn&& fn) {
    for (machine& m : ms) fn(m);
  }
  bool is_old(const chunk& c) { return c.generation.get() != kNew; }
  void collect_faultily(machine& m) {
    chunk* left = m.trace.buffer.load(acquire);
    if (f == fault::takes_whatever) {
      if ((left = m.trace.buffer.exchange(nullptr, seq_cst)) != nullptr) submit(left);
      return;
    }
    if (left == nullptr || !is_old(*left)) return;
    chunk* const mine = left;
    if (m.trace.buffer.compare_exchange_strong(left, nullptr, seq_cst)) submit(mine);
  }
  void submit(chunk* c) {
    lock.lock();
    c->next = full.get();
    full = c;
    lock.unlock();
  }

  // ── an M ──
  void open(machine& m, std::uint32_t generation) {
    chunk& c = m.chunks[m.used++];
    c.generation = generation;
    m.trace.buffer.store(&c, release);
  }
  std::uint32_t write(machine& m) {
    const std::uint32_t now =
        f == fault::a_word_for_each ? m.own_word.load(relaxed) : word.load(relaxed);
    if (m.trace.stamp.load(relaxed) != now) move_on(m, now);
    chunk* const c = m.trace.buffer.load(relaxed);
    model::require(c != nullptr, "its chunk was taken away while it writes");
    c->events = c->events.get() + 1;
    ++m.written[now];
    return now;
  }
  void move_on(machine& m, std::uint32_t now) {
    if (f == fault::moves_on_too_early) {
      m.trace.stamp.store(now, release);
      if (chunk* const left = m.trace.buffer.exchange(nullptr, seq_cst)) submit(left);
    } else {
      tr::move_on(*this, m.trace, now);
    }
    open(m, now);
  }
  void live(machine& m, life how) {
    m.hot.enter();
    const std::uint32_t now = write(m);
    if (how == life::tells) told.store(now, release);
    if (how == life::sleeps) nap(m);
    m.hot.leave();
    if (how == life::tells) return;
    m.hot.enter();
    write(m);
    m.hot.leave();
  }
  void nap(machine& m) {
    tr::become_quiet(m.hot);
    if (f == fault::quiet_ends_late) write(m);
    tr::end_quiet(m.hot);
    write(m);
  }
  void follow(machine& m) {
    m.hot.enter();
    const std::uint32_t first = told.load(acquire);
    const std::uint32_t mine = write(m);
    model::require(mine >= first, "an event is in a generation before the one it follows");
    m.hot.leave();
  }

  // ── the writer ──
  void close() {
    if (f == fault::barrier_first || f == fault::does_not_wait || f == fault::a_word_for_each ||
        f == fault::takes_whatever || f == fault::takes_once) {
      advance_faultily();
    } else {
      tr::advance(*this, kNew);
    }
    closed = 0;
    lock.lock();
    chunk* all = full.get();
    full = nullptr;
    lock.unlock();
    for (; all != nullptr; all = all->next) {
      if (all->generation.get() == kOld) closed += all->events.get();
      all->events = 0;  // it is used again
    }
  }
  void advance_faultily() {
    if (f == fault::barrier_first) model::membarrier();
    for (machine& m : ms) m.own_word.store(kNew, seq_cst);
    word.store(kNew, seq_cst);
    if (f != fault::barrier_first) model::membarrier();
    for (machine& m : ms) {
      while (f != fault::does_not_wait && !tr::has_passed(m.hot, m.trace, kNew)) pause();
      if (f == fault::takes_whatever || f == fault::takes_once) {
        collect_faultily(m);
      } else {
        tr::take_left_behind(*this, m, kNew);
      }
    }
  }

  void finish() {
    if (closed < 0) return;
    model::require(closed == ms[0].written[kOld] + ms[1].written[kOld],
                   "the writer has not every event of the generation");
  }
};

TEST(Advance, ClosesAWholeGeneration) {
  model::holds<house>("an M that comes and goes", {.seconds = 4}, fault::none, life::busy);
  model::holds<house>("an M that sleeps inside", {.preemptions = 4, .seconds = 4}, fault::none,
                      life::sleeps);
  model::holds<house>("an event that follows another", {.preemptions = 4, .seconds = 4}, fault::none,
                      life::tells);
}

TEST(Advance, MutantsAreCaught) {
  const model::options o{.seconds = 5};
  const auto caught = [&](const char* name, fault f, life how = life::busy) {
    model::catches<house>(name, o, f, how);
  };
  caught("advance: barrier dropped", fault::no_barrier);
  caught("advance: number stored after the barrier", fault::barrier_first);
  caught("advance: nobody is waited for", fault::does_not_wait);
  caught("advance: quiet ends late", fault::quiet_ends_late, life::sleeps);
  caught("advance: moves on before it submits", fault::moves_on_too_early);
  caught("advance: leaves without a release", fault::leaves_relaxed);
  caught("advance: takes whatever is there", fault::takes_whatever);
  caught("advance: does not wait for who moves on", fault::takes_once);
  caught("advance: a word in each M", fault::a_word_for_each, life::tells);
}

}  // namespace
