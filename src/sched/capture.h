// A picture of all goroutines: their records and the return addresses on their stacks, copied so
// that they can be named, sorted and printed while the program runs on.
//
// Who    dumps, with the world stopped: a picture of one instant. fatal(), from anywhere: as the
//        records are; then a stack may change while it is walked, and what was read of it may be
//        nonsense, but the walk ends (walk/memory.h).
// Where  signal-safe: memory comes from the kernel. No names are looked up here.
// Law    equal stacks are kept once, so a million goroutines in one place cost a million records
//        and one stack.
// Note   a goroutine that runs (also one without a P) is asked for its stack (question.h), if the
//        caller wants that; the answer is taken when the world runs again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gmp/g.h"
#include "sched/holders.h"
#include "walk/walk.h"

namespace vole::rt {

inline constexpr std::size_t kMostFrames = 100;

// The return addresses of a running function, its own frames first.
struct own_stack {
  std::uintptr_t at[kMostFrames];
  std::size_t n = 0;

  void take() noexcept;  // the caller's; user context or a dying thread
};

class questions;

// Why a goroutine's stack is not known.
enum class unread : std::uint8_t {
  none,       // it is, or nobody has tried
  running,    // it runs, and its thread did not answer
  asleep,     // it runs, but its thread sleeps in the kernel: not asked
  in_call,    // it is in blocking(): not asked
};

struct captured {
  std::uint64_t id, parent;
  const void* object;      // what it waits on; null: nothing that has an address
  const void* created_at;  // where the call that made it returns to
  const void* invoke;      // vole's wrapper around its function
  const G* g;              // its record: only inside
  std::uintptr_t callable; // what its function begins with: cycles.h
  std::uint64_t holder;    // who probably holds what it waits for, a mutex; 0: not known
  std::int64_t waited_ns;  // negative: it does not wait
  std::uint32_t stack;     // an index; 0: not known
  unread reason;           // then: why not
  g_status status;
  wait_reason why;
  bool locked, is_caller, is_new;  // to its thread; who takes the picture; has not run yet
  char name[kNameBytes - sizeof(g_name*)];
};

// All but the stack.
captured record_of(const G& g, bool is_caller) noexcept;

class capture {
 public:
  capture() noexcept = default;
  ~capture();
  capture(const capture&) = delete;
  capture& operator=(const capture&) = delete;

  // Memory for as many goroutines as there may be, and some more. Before the world is stopped: the
  // kernel may take its time. False: refused.
  bool prepare() noexcept;
  // All that are alive, up to what was prepared. `own`: the stack of `caller`; both may be null.
  // `stopped`: the world is, and by us; those whose P the stop has taken are shown as running.
  // `ask`: who runs is asked for its stack; take_answers() is to follow. May be null.
  void take(const G* caller, const own_stack* own, bool stopped, questions* ask) noexcept;
  void take_answers(questions& asked) noexcept;  // waits for them, for a limited time

  std::size_t size() const noexcept { return size_; }
  captured& at(std::size_t i) noexcept { return records_[i]; }
  const captured& at(std::size_t i) const noexcept { return records_[i]; }
  std::size_t left_out() const noexcept { return left_out_; }
  template <class Fn>
  void drop_if(Fn&& fn) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i)
      if (!fn(records_[i])) records_[kept++] = records_[i];
    size_ = kept;
  }
  const std::uintptr_t* frames(const captured& c, std::size_t* n) const noexcept;
  // fn(frames, n) gives a number for each stack; goroutines whose stacks have the same number get
  // the same stack. For dumps, which leave frames out.
  template <class Fn>
  void merge_stacks(Fn&& fn) noexcept;

 private:
  struct stack_entry {
    std::uint64_t hash;
    std::uint32_t first, n;  // in frames_
    std::uint32_t same_as;   // merge_stacks: itself, or an earlier one
  };

  void add(const G& g, const G* caller, const own_stack* own, bool stopped,
           questions* ask) noexcept;
  void add_running(const G& g, captured& c, questions* ask) noexcept;
  void merge_equal() noexcept;
  void find_holders() noexcept;
  void tell_holders() noexcept;
  std::uint32_t keep(const std::uintptr_t* frames, std::size_t n) noexcept;
  template <class T>
  T* map(std::size_t count, std::size_t* bytes) noexcept;

  captured* records_ = nullptr;
  std::uintptr_t* frames_ = nullptr;
  stack_entry* stacks_ = nullptr;  // open addressing; entry 0 is never used
  walk::row_cache* rows_ = nullptr;
  holders* holders_ = nullptr;
  std::size_t records_bytes_ = 0, frames_bytes_ = 0, stacks_bytes_ = 0, rows_bytes_ = 0,
              holders_bytes_ = 0;
  std::size_t capacity_ = 0, size_ = 0, left_out_ = 0;
  std::size_t frames_used_ = 0, frames_capacity_ = 0;
  std::size_t stacks_used_ = 0, stacks_capacity_ = 0;  // a power of two
};

template <class Fn>
void capture::merge_stacks(Fn&& fn) noexcept {
  if (stacks_ == nullptr) return;
  for (std::size_t i = 1; i < stacks_capacity_; ++i) {
    stack_entry& e = stacks_[i];
    if (e.n == 0) continue;
    e.hash = fn(frames_ + e.first, e.n);
    e.same_as = static_cast<std::uint32_t>(i);
  }
  merge_equal();
}

}  // namespace vole::rt
