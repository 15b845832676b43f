// The checker's inside: threads, locations, views, and the tree of choices.
//
// Views. A view says, for each location, which is the oldest store that may still
// be read, and for each thread, how much of it has happened before. A thread has
// three (after Kang et al., POPL 2017): `cur` holds what it has seen, `acq` also
// what an acquire fence would add, `rel` what its last fence lets relaxed stores
// carry. A store carries a view along; an acquire load joins it. seq_cst accesses
// read and write their own location in `sc`, seq_cst fences join all of it, so that
// of two threads that write and then read in seq_cst, one sees the other.
//
// Choices. An execution is a list of choices: who runs, which store a load returns,
// whom a wake-up wakes. The next execution repeats the list but for its last choice
// that has an alternative left.
//
// Sleep sets (Godefroid). A thread whose step has been explored at a branching
// stays out of the other branches until a step that depends on it is made.
//
// Who    explore*.cc.
// Note   one engine, one OS thread; model threads are fibers.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "explore.h"

namespace model {

inline constexpr int kThreads = 8;
inline constexpr int kLocations = 32;
inline constexpr int kStaleReads = 2;  // of one store in a row; then a newer one shows

struct view {
  std::uint16_t at[kLocations] = {};
  std::uint32_t clock[kThreads] = {};

  void join_stores(const view& o) noexcept;
  void join(const view& o) noexcept;
};

struct stored {
  std::uint64_t value;
  view carried;
};

struct location {
  const void* address = nullptr;
  const char* name = nullptr;
  bool alive = false;
  bool locked = false;  // a mutex's
  bool torn = false;
  view released;        // a mutex's
  std::vector<stored> stores;
  int newest() const noexcept { return static_cast<int>(stores.size()) - 1; }
};

enum class step : std::uint8_t {
  start, load, store, rmw, cas, fence, barrier, lock, futex_wait, futex_wake, asleep
};

struct pending {
  step kind = step::start;
  bool sc = false;
  std::int16_t where = -1;
  bool writes() const noexcept { return kind != step::load; }
};
bool dependent(const pending& a, const pending& b) noexcept;

struct thread {
  const char* name = "";
  std::function<void()> body;
  bool daemon = false;
  bool finished = false;
  bool asleep = false;   // in futex_wait
  bool timed = false;    // ... and it may run out
  bool woken = false;    // by futex_wake, not by chance
  int last = -1;         // location of the last access
  int spins_on = -1;     // said cpu_relax after an access to this location ...
  int spun_at = 0;       // ... when this was its newest store
  int hurry = 0;         // spins on so many times; 0: waits for a newer store
  pending next;
  view cur, acq, rel;
  std::uint16_t read[kLocations] = {};  // the last store read
  std::uint8_t stale[kLocations] = {};  // how often in a row, while outdated
};

struct weakening {
  int where, thread;
  access kind;
  std::memory_order order;
};

struct choice {
  std::uint8_t taken, of;
};

enum class ending : std::uint8_t { none, quiet, redundant, violation };
enum class choosing : std::uint8_t { schedule, value, other };

struct violation {};  // thrown by fail() outside of threads

// The twin of base/sleeper_table.h lives as long as an execution.
void open_sleeper_table();
void close_sleeper_table();

struct engine {
  // ── one execution ──
  thread threads[kThreads];  // 0: the constructor and finish()
  location locations[kLocations];
  int thread_count = 1, location_count = 0;
  view sc;
  int current = 0, steps = 0, preemptions = 0, spurious = 0;
  std::uint32_t sleeping = 0;  // the sleep set
  pending executed;
  std::uint64_t unlocked = 0;  // mutexes released by the executed step
  bool dropped[3] = {};
  std::vector<weakening> weakenings;
  bool running = false;
  ending end = ending::none;
  std::string what;

  // ── the search ──
  options opt;
  std::vector<choice> tree;
  std::size_t depth = 0;
  std::mt19937_64 random;
  bool tracing = false;
  std::string trace;

  void reset();
  ending run(const runner& r);
  bool advance();
  int choose(int n, choosing kind);
  thread& me() noexcept { return threads[current]; }
  bool in_thread() const noexcept { return current != 0; }

  // Announces the next step and returns when its turn has come. True: the thread
  // spins, repeats its last access, and nothing has changed since.
  bool point(step kind, int where, bool sc);
  // A thread that spins either does so until it gives up, without a change and in
  // one go, or until the location it looks at has changed. All else is a stutter.
  void spin();
  bool stutters(step kind, int where);
  bool enabled(const thread& t) const noexcept;
  int pick();
  void hand_over(int to);
  void run_threads();
  [[noreturn]] void finish_thread();
  [[noreturn]] void leave(ending e);
  [[noreturn]] void fail(const std::string& sentence);
  void note(const char* verb, int where, std::uint64_t value, const char* more = "");

  // ── memory ──
  location& at(int where);
  std::memory_order ordered(int where, access a, std::memory_order o) const noexcept;
  std::uint64_t read(int where, int which, std::memory_order o);
  int pick_store(int where, std::memory_order o);
  void append(int where, std::uint64_t value, std::memory_order o, const view* sequence);
  void fence(thread& t);
  void tick(thread& t) noexcept;
};

extern engine the;

}  // namespace model
