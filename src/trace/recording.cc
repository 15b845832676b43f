#include "trace/recording.h"

#include <algorithm>
#include <string>

#include "base/fatal.h"
#include "trace/advance.h"
#include "trace/emit.h"
#include "trace/house.h"
#include "trace/listing.h"
#include "trace/names.h"
#include "trace/pool.h"
#include "trace/shared.h"

namespace vole::rt::trace {
namespace {

constexpr std::int64_t kMilli = 1000 * 1000, kGeneration = 1000 * kMilli;
constexpr std::int64_t kNamesAtOnce = 2 * kMilli;  // of a ring's names, after each cut
constexpr int kShare = 20;                         // a cut takes at most one part in so many

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

}  // namespace

recording::recording(int fd, std::int64_t window, std::uint64_t ticks_per_second)
    : ring_(fd < 0),
      sink_(fd, fd < 0, window, ticks_per_second),
      next_cut_(os::now_ns() + kGeneration) {}

void recording::begin() {
  const std::uint32_t number = (shared.stamp.load(relaxed) >> 1) + 1;
  shared.first_number.store(number + 1, seq_cst);
  now_on.store(1, seq_cst);
  the_house.flag_all(true);
  go_to(number << 1 | 1);
  start_generation();
}

void recording::cut() {
  next_generation();
  sink_.make_room();
}

void recording::next_generation() {
  if (stopped_) return;
  if (paused_) {
    paused_ = false;
    start_generation();
    next_cut_ = os::now_ns() + kGeneration;
    return;
  }
  const std::int64_t began = os::now_ns();
  const std::uint32_t old = generation_of(shared.stamp.load(relaxed));
  const std::uint64_t lost = start_generation();
  drain();
  sink_.end(old, this_moment(), lost);
  next_cut_ = os::now_ns() + std::max(kGeneration, kShare * (os::now_ns() - began));
}

void recording::pause() {
  if (paused_ || stopped_) return;
  paused_ = true;
  const std::uint32_t stamp = shared.stamp.load(relaxed);
  go_to(((stamp >> 1) + 1) << 1 | 1);
  drain();
  sink_.end(generation_of(stamp), this_moment(), shared.lost[stamp >> 1 & 1].load(relaxed));
}

void recording::stop() {
  if (stopped_) return;
  pause();
  stopped_ = true;
  now_on.store(0, seq_cst);
  the_house.flag_all(false);
}

void recording::drain() {
  shared.full.store(0, relaxed);
  while (chunk_header* const full = pool::next_full()) sink_.add(full);
}

void recording::look() {
  drain();
  if (stopped_ || paused_) return;
  if (sink_.error() != 0) return give_up();
  const bool asked = shared.cuts_wanted.exchange(0, seq_cst) != 0;
  if (asked || sink_.is_large() || os::now_ns() >= next_cut_) cut();
  if (ring_) names::look_up_all(kNamesAtOnce);
}

std::int64_t recording::until_next() const noexcept {
  if (stopped_ || paused_) return 60 * kGeneration;
  const std::int64_t left = next_cut_ - os::now_ns();
  return left > 0 ? left : 0;
}

int recording::write_names() {
  pause();
  put_names();
  return sink_.error();
}

// The generation that has just ended is in it, however small the ring is.
int recording::write_snapshot(const char* path) {
  next_generation();
  names::look_up_all(kNamesAtOnce);
  const int error = sink_.write_snapshot(path);
  sink_.make_room();
  return error;
}

int recording::finish() {
  stop();
  if (!ring_) put_names();
  sink_.finish();
  return sink_.error();
}

void recording::go_to(std::uint32_t stamp) noexcept {
  shipped_env env;
  advance(env, stamp);
  move_thread0(stamp);
}

// Returns what was lost in the one before.
std::uint64_t recording::start_generation() {
  const std::uint32_t old = shared.stamp.load(relaxed) >> 1, number = old + 1;
  shared.lost[number & 1].store(0, relaxed);
  const std::uint32_t generation = generation_of(number << 1);
  sink_.begin(generation, this_moment(), the_house.procs());
  go_to(number << 1);
  list(generation);
  return shared.lost[old & 1].load(relaxed);
}

void recording::list(std::uint32_t generation) {
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

void recording::put_names() {
  names::look_up_all(60'000 * kMilli);
  sink_.write_names();
}

// The disk is full, or the other end is gone: the trace ends, the program does not.
void recording::give_up() {
  sentence s;
  s << "vole: the trace cannot be written (" << os::error_text(sink_.error())
    << "): it ends here, the program goes on\n";
  s.print();
  stop();
}

}  // namespace vole::rt::trace
