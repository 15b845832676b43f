#include "trace/writer.h"

#include <algorithm>
#include <new>
#include <string>

#include "base/fatal.h"
#include "base/note.h"
#include "os/os.h"
#include "trace/advance.h"
#include "trace/shared.h"
#include "trace/emit.h"
#include "trace/house.h"
#include "trace/listing.h"
#include "trace/names.h"
#include "trace/pool.h"
#include "trace/sink.h"

namespace vole::rt::trace::writer {
namespace {

constexpr std::int64_t kMilli = 1000 * 1000, kGeneration = 1000 * kMilli;
constexpr std::int64_t kMeasure = 5 * kMilli;      // how long the clocks are compared
constexpr std::int64_t kNamesAtOnce = 2 * kMilli;  // of a ring's names, after each cut
constexpr std::int64_t kMostTick = 4;              // ns
constexpr int kShare = 20;                         // a cut takes at most one part in so many

struct writer_state {
  plan now;
  os::thread thread;
  note begun, done;
  atomic<std::uint32_t> order{0};
  const char* path = nullptr;  // of an order
  int result = 0;              // of an order
};
constinit writer_state room;

struct shipped_env {
  atomic<std::uint32_t>& stamp() const noexcept { return shared.stamp; }
  void membarrier() const noexcept { os::membarrier(); }
  void pause() const noexcept {
    const std::uint32_t seen_word = shared.wake_word.load(relaxed);
    futex_wait_for(&shared.wake_word, seen_word, 20 * 1000);
  }
  // While a runtime ends its threads close their chunks themselves; afterwards there are none.
  template <class Fn>
  void each_m(Fn&& fn) const noexcept {
    while (!the_house.visit()) {
      if (the_house.is_stopped()) return;
      pause();
    }
    the_house.each_m([](M& m, void* arg) noexcept { (*static_cast<Fn*>(arg))(m); }, &fn);
    the_house.end_visit();
  }
  bool is_old(const chunk_header& h) const noexcept {
    return h.generation != generation_of(shared.stamp.load(relaxed));
  }
  void submit(chunk_header* left) const noexcept { trace::submit(left); }
};

// Processor ticks in a second. Sleeps for a moment.
double measure_clock() noexcept {
  atomic<std::uint32_t> never{0};
  const std::int64_t from = os::now_ns();
  const std::uint64_t ticks = arch::ticks();
  std::int64_t to;
  while ((to = os::now_ns()) < from + kMeasure) futex_wait_for(&never, 0, from + kMeasure - to);
  const std::uint64_t passed = arch::ticks() - ticks;
  return static_cast<double>(passed) * 1e9 / static_cast<double>(to - from);
}

// The largest tick of at most 4 ns; returns how many there are in a second.
std::uint64_t choose_tick(double per_second) noexcept {
  int shift = 0;
  double scaled = per_second;
  constexpr double kLeast = 1e9 / kMostTick;
  while (scaled / 2 >= kLeast) {
    scaled /= 2;
    ++shift;
  }
  while (scaled < kLeast) {
    scaled *= 2;
    --shift;
  }
  shared.shift.store(shift, relaxed);
  return static_cast<std::uint64_t>(scaled);
}

class session {
 public:
  session(const plan& p, std::uint64_t ticks_per_second)
      : ring_(p.fd < 0), sink_(p.fd, p.fd < 0, p.window, ticks_per_second) {}

  // Everybody has seen that there is a trace before its first generation begins.
  void begin() {
    const std::uint32_t number = (shared.stamp.load(relaxed) >> 1) + 1;
    shared.first_number.store(number + 1, seq_cst);
    now_on.store(1, seq_cst);
    the_house.flag_all(true);
    go_to(number << 1 | 1);
    start_generation();
  }

  void cut() {
    if (paused_) return resume();
    const std::int64_t began = os::now_ns();
    const std::uint32_t old = generation_of(shared.stamp.load(relaxed));
    const std::uint64_t lost = start_generation();
    drain();
    sink_.end(old, this_moment(), lost);
    next_cut_ = os::now_ns() + std::max(kGeneration, kShare * (os::now_ns() - began));
  }

  // Nothing is recorded until the next cut.
  void pause() {
    if (paused_ || stopped_) return;
    paused_ = true;
    const std::uint32_t stamp = shared.stamp.load(relaxed);
    go_to(((stamp >> 1) + 1) << 1 | 1);
    drain();
    sink_.end(generation_of(stamp), this_moment(), shared.lost[stamp >> 1 & 1].load(relaxed));
  }
  void resume() {
    paused_ = false;
    start_generation();
    next_cut_ = os::now_ns() + kGeneration;
  }

  // From here on nobody writes.
  void stop() {
    if (stopped_) return;
    pause();
    stopped_ = true;
    now_on.store(0, seq_cst);
    the_house.flag_all(false);
  }

  void drain() {
    shared.full.store(0, relaxed);
    while (chunk_header* const full = pool::next_full()) sink_.add(full);
  }

  // True: that was the last order.
  bool serve(order what) {
    switch (what) {
      case order::none: return false;
      case order::cut: if (!stopped_) cut(); break;
      case order::names:
        pause();
        write_names();
        break;
      case order::snapshot:
        if (!stopped_) cut();
        names::look_up_all(kNamesAtOnce);
        room.result = sink_.write_snapshot(room.path);
        return false;
      case order::end:
        stop();
        if (!ring_) write_names();
        sink_.finish();
        break;
    }
    room.result = sink_.error();
    return what == order::end;
  }

  void look() {
    drain();
    if (stopped_ || paused_) return;
    if (sink_.error() != 0) return give_up();
    const bool asked = shared.cuts_wanted.exchange(0, seq_cst) != 0;
    if (asked || sink_.is_large() || os::now_ns() >= next_cut_) cut();
    if (ring_) names::look_up_all(kNamesAtOnce);
  }

  // How long there is nothing to do.
  std::int64_t until_next() const noexcept {
    if (stopped_ || paused_) return 60 * kGeneration;
    const std::int64_t left = next_cut_ - os::now_ns();
    return left > 0 ? left : 0;
  }

 private:
  void go_to(std::uint32_t stamp) noexcept {
    shipped_env env;
    advance(env, stamp);
    move_thread0(stamp);
  }

  // Returns what was lost in the one before.
  std::uint64_t start_generation() {
    const std::uint32_t old = shared.stamp.load(relaxed) >> 1, number = old + 1;
    shared.lost[number & 1].store(0, relaxed);
    const std::uint32_t generation = generation_of(number << 1);
    sink_.begin(generation, this_moment(), the_house.procs());
    go_to(number << 1);
    list(generation);
    return shared.lost[old & 1].load(relaxed);
  }

  void list(std::uint32_t generation) {
    if (!the_house.visit()) return;  // there is nobody, or they are all about to go
    struct to {
      sink& s;
      std::uint32_t generation;
    } target{sink_, generation};
    make_listing(
        pool::kSlotBytes - sizeof(chunk_header),
        [](const std::string& payload, void* arg) {
          auto& t = *static_cast<to*>(arg);
          t.s.add_listing(t.generation, payload);
        },
        &target);
    the_house.end_visit();
  }

  void write_names() {
    names::look_up_all(60'000 * kMilli);
    sink_.write_names();
  }

  // The disk is full, or the other end is gone: the trace ends, the program does not.
  void give_up() {
    sentence s;
    s << "vole: the trace cannot be written (" << os::error_text(sink_.error())
      << "): it ends here, the program goes on\n";
    s.print();
    stop();
  }

  const bool ring_;
  sink sink_;
  std::int64_t next_cut_ = os::now_ns() + kGeneration;
  bool stopped_ = false, paused_ = false;
};

void sleep(std::uint32_t seen_word, std::int64_t most) noexcept {
  shared.asleep.store(1, seq_cst);
  if (shared.full.load(seq_cst) < 4) futex_wait_for(&shared.wake_word, seen_word, most);
  shared.asleep.store(0, seq_cst);
}

void serve_orders(session& s) {
  for (;;) {
    const std::uint32_t seen_word = shared.wake_word.load(acquire);
    const auto what = static_cast<order>(room.order.exchange(0, seq_cst));
    if (what != order::none) {
      const bool last = s.serve(what);
      room.done.wake();
      if (last) return;
      continue;
    }
    s.look();
    sleep(seen_word, s.until_next());
  }
}

void writer_main(void*) noexcept {
  os::sharpen_timeouts();
  try {
    if (room.now.fd < 0) names::warm_up();
    session s(room.now, choose_tick(measure_clock()));
    s.begin();
    room.begun.wake();
    serve_orders(s);
  } catch (const std::bad_alloc&) {
    fatal("out of memory: no room for the trace's own records. A higher memory limit would help");
  }
}

}  // namespace

int start(const plan& p) noexcept {
  room.now = p;
  room.begun.clear();
  room.done.clear();
  room.order.store(0, relaxed);
  os::thread_spec spec;
  spec.main = &writer_main;
  spec.name = "vole-trace";
  spec.block_signals = true;
  if (const int error = os::create_thread(&room.thread, spec)) return error;
  room.begun.sleep();
  return 0;
}

int run(order what, const char* path) noexcept {
  room.path = path;
  room.result = 0;
  room.order.store(static_cast<std::uint32_t>(what), seq_cst);
  wake_writer();
  room.done.sleep();
  room.done.clear();
  return room.result;
}

void join() noexcept { os::join_thread(room.thread); }

void in_forked_child() noexcept {
  now_on.store(0, relaxed);
  shared.stamp.store(((shared.stamp.load(relaxed) >> 1) + 1) << 1 | 1, relaxed);
}

}  // namespace vole::rt::trace::writer
