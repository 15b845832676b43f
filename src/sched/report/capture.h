// A picture of all goroutines: their records and the return addresses on their stacks, copied so
// that they can be named, sorted and printed while the program runs on.
//
// Who    dumps, with the world stopped: a picture of one instant. fatal(), from anywhere: as the
//        records are; then a stack may change while it is walked, and what was read of it may be
//        nonsense, but the walk ends (walk/memory.h).
// Where  signal-safe: memory comes from the kernel. No names are looked up here.
// Note   a goroutine that runs (also one without a P) is asked for its stack (question.h), if the
//        caller wants that; the answer is taken when the world runs again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gmp/g.h"
#include "sched/report/captured.h"
#include "sched/report/holders.h"
#include "walk/walk.h"

namespace vole::rt {

// The return addresses of a running function, its own frames first.
struct own_stack {
  std::uintptr_t at[kMostFrames] = {};
  std::size_t n = 0;

  void take() noexcept;  // the caller's; user context or a dying thread
};

class questions;

// All but the stack.
captured record_of(const G& g, bool is_caller) noexcept;

class capture : public captured_set {
 public:
  capture() noexcept = default;
  ~capture();

  // Memory for as many goroutines as there may be, and some more. Before the world is stopped: the
  // kernel may take its time. False: refused.
  bool prepare() noexcept;
  // All that are alive, up to what was prepared. `own`: the stack of `caller`; both may be null.
  // `stopped`: the world is, and by us; those whose P the stop has taken are shown as running.
  // `ask`: goroutines that run are asked for their stacks; take_answers() must follow. May be null.
  void take(const G* caller, const own_stack* own, bool stopped, questions* ask) noexcept;
  void take_answers(questions& asked) noexcept;  // waits for them, for a limited time

 private:
  void add(const G& g, const G* caller, const own_stack* own, bool stopped,
           questions* ask) noexcept;
  void add_running(const G& g, captured& c, questions* ask) noexcept;
  void add_channels(captured& c, bool stopped) noexcept;
  void find_holders(bool stopped) noexcept;
  void search_stacks() noexcept;
  void tell_holders() noexcept;

  walk::row_cache* rows_ = nullptr;
  holders* holders_ = nullptr;
  std::size_t rows_bytes_ = 0, holders_bytes_ = 0;
};

}  // namespace vole::rt
