// A stateless model checker: runs a small concurrent program in every way its
// memory model allows, or in as many as the bounds leave.
//
// A program is a class. Its constructor makes the shared state and spawns threads;
// finish(), if there is one, looks at the end. Each execution makes a new one:
//
//     struct handshake {
//       atomic<int> flag{0};
//       model::var<int> data;
//       handshake() {
//         model::spawn("writer", [this] { data = 1; flag.store(1, release); });
//         model::spawn("reader", [this] { if (flag.load(acquire)) (void)data.get(); });
//       }
//     };
//     model::outcome o = model::explore<handshake>({});
//
// What it finds: a failed require(), a data race on a var, fatal(), use of a dead
// atomic, a deadlock (a thread asleep for ever that is not a daemon), a livelock
// (too many steps), whatever finish() requires.
//
// The memory model: each atomic has a list of stores, in the order executed. A load
// may return any store that its thread's view does not rule out; views travel with
// release and acquire, fences and one seq_cst view (engine.h). Read-modify-writes
// take the newest store; one that fails may be as stale as a load. A thread may read
// the same outdated store twice in a row, not for ever. Not modelled: a load that
// returns a store executed later (load buffering), and a store that goes into the
// list before an older one. litmus_model.cc compares it with the published verdicts.
//
// Who    the tests in this folder. Inside threads use require(), not gtest macros.
// Law    plain data shared by threads must be a var, or only be counted up, or be
//        read in finish(): between two atomic operations a thread runs undisturbed,
//        and orders that differ only there are explored once.
// Note   threads are abandoned where an execution ends: destructors of their locals
//        do not run, so let them own no memory. Sanitizers that watch stacks (ASan,
//        TSan) do not follow the fibers: build these tests without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/atomic.h"

namespace model {

struct options {
  int preemptions = -1;                    // per execution; -1: any number, with sleep sets
  std::uint64_t executions = 100'000'000;  // at most
  double seconds = 4;                      // at most, of CPU time
  std::uint64_t random = 0;                // not 0: so many random executions instead
  std::uint64_t seed = 1;
  int spurious = 0;                        // futex wake-ups for no reason, per execution
  int steps = 2000;                        // an execution with more is a livelock
};

struct outcome {
  bool caught = false;
  std::string what;          // the violation
  std::string interleaving;  // how it came about, one step a line
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;  // cut short: the same up to the order of independent steps
  bool complete = false;        // everything within the preemption bound was seen
  double seconds = 0;
};

// ── inside a program ──
int spawn(const char* name, std::function<void()> body);
int spawn_daemon(const char* name, std::function<void()> body);  // may be asleep at the end
int self() noexcept;  // this thread's number; 0: the constructor or finish()
void require(bool condition, const char* sentence);
int choose(int n);  // any of 0..n-1
void membarrier() noexcept;

// The n-th atomic inside `object`, in the order of declaration.
int atomic_in(const void* object, std::size_t size, int n);
template <class T>
int atomic_in(const T& object, int n = 0) {
  return atomic_in(&object, sizeof object, n);
}
void name(int location, const char* name);
std::int32_t lowest(int location);  // value it ever had, as a signed 32-bit number
// All values it ever had, each with the one before.
void each_store(int location, const std::function<void(std::uint64_t was, std::uint64_t is)>& look);
void preset(int location, std::uint64_t value);  // another first value, for private words

// ── mutations, made by a program's constructor ──
enum class access { load, store, rmw };
enum class call { fence, membarrier, futex_wake };
// Such accesses get this order instead of their own; by one thread, or by all (-1).
void weaken(int location, access a, std::memory_order order, int thread = -1);
// Read-modify-writes become a load and, at some later time, a store.
void tear(int location);
void drop(call c);

// ── plain data, checked for races ──
class race_check {
 public:
  race_check() noexcept;
  void on_read();
  void on_write();
  // Made after the thread's clock stood at `stamp`, but known to matter only now.
  void was_read(std::uint32_t stamp);
  void was_written(std::uint32_t stamp);

 private:
  static constexpr int kThreads = 8;
  std::uint32_t read_[kThreads] = {};
  std::uint32_t wrote_[kThreads] = {};
  std::uint32_t writer_view_[kThreads] = {};
};
std::uint32_t stamp() noexcept;

template <class T>
class var {
 public:
  var() = default;
  var(T value) : value_(value) {}
  T get() const {
    check_.on_read();
    return value_;
  }
  void set(T value) {
    check_.on_write();
    value_ = value;
  }
  void operator=(T value) { set(value); }

 private:
  T value_{};
  mutable race_check check_;
};

// An object whose destructor runs only if a thread says so: an execution that is cut short leaves
// it in the middle of something.
template <class T>
class kept {
 public:
  kept() : object_() {}
  ~kept() {}
  void destroy() noexcept { object_.~T(); }
  T* operator->() noexcept { return &object_; }
  T& operator*() noexcept { return object_; }

 private:
  union {
    T object_;
  };
};

// A lock that costs one scheduling point.
class mutex {
 public:
  mutex() noexcept;
  void lock() noexcept;
  void unlock() noexcept;

 private:
  int location_;
};

// ── running ──
struct runner {
  std::function<void*()> make;
  std::function<void(void*)> finish;
  std::function<void(void*)> destroy;
};
outcome explore(const options& o, const runner& r);

template <class Program, class... Args>
outcome explore(const options& o, Args... args) {
  runner r;
  r.make = [=]() -> void* { return new Program(args...); };
  r.finish = [](void* p) {
    if constexpr (requires(Program& q) { q.finish(); }) static_cast<Program*>(p)->finish();
  };
  r.destroy = [](void* p) { delete static_cast<Program*>(p); };
  return explore(o, r);
}

}  // namespace model
