// The parts of a picture of goroutines: a record of each, and their stacks as return addresses.
//
// Who    capture.h fills it with this program's goroutines, the `vole` command with another program's.
//        dump_text.h prints it.
// Where  signal-safe: memory comes from the kernel.
// Law    equal stacks are kept once, so a million goroutines in one place cost a million records
//        and one stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fatal.h"
#include "gmp/status.h"
#include "gmp/wait_reason.h"
#include "gmp/waited_places.h"

namespace vole::rt {

struct G;

inline constexpr std::size_t kMostFrames = 100;
inline constexpr std::size_t kNameShown = 56;

// Why a goroutine's stack is not known.
enum class unread : std::uint8_t {
  none,     // it is, or nobody has tried
  running,  // it runs, and its thread did not answer
  asleep,   // it runs, but its thread sleeps in the kernel: not asked
  in_call,  // it is in blocking(): not asked
};

// captured::holder: it is held, but on no goroutine's stack that lives.
inline constexpr std::uint64_t kHeldElsewhere = ~std::uint64_t{0};

struct captured {
  std::uint64_t id, parent;
  const void* object;       // what it waits on; null: nothing that has an address
  const void* created_at;   // where the call that made it returns to
  const void* invoke;       // vole's wrapper around its function
  const G* g;               // its record: only inside
  std::uintptr_t callable;  // what its function begins with: cycles.h
  std::uint64_t holder;  // the goroutine that probably holds the mutex it waits for; 0: not known
  std::uint64_t joins;      // whose end it waits for, in join(); 0: it does not
  std::int64_t waited_ns;   // negative: it does not wait
  std::uint32_t stack;      // an index; 0: not known
  std::uint32_t channels;   // of a select, as a stack; 0: not known
  unread reason;            // if the stack is not known: why not
  g_status status;
  wait_reason why;
  bool locked, is_caller, is_new;  // to its thread; it takes the picture; it has not run yet
  char name[kNameShown];
};

inline bool waits_for_mutex(const captured& c) noexcept {
  return c.status == g_status::waiting &&
         (c.why == wait_reason::mutex || c.why == wait_reason::shared_mutex_write ||
          c.why == wait_reason::shared_mutex_read);
}

// " (its name)", or nothing if it has none. Control characters are shown as \xNN.
void put_name(base::sentence& s, const char* name) noexcept;

class captured_set {
 public:
  captured_set() noexcept = default;
  ~captured_set();
  captured_set(const captured_set&) = delete;
  captured_set& operator=(const captured_set&) = delete;

  // Memory for so many goroutines. False: refused.
  bool reserve(std::size_t goroutines) noexcept;
  captured* add() noexcept;  // null: there is no room; it is counted
  std::uint32_t keep_stack(const std::uintptr_t* frames, std::size_t n) noexcept {
    return keep(frames, n, false);
  }
  std::uint32_t keep_channels(const std::uintptr_t* channels, std::size_t n) noexcept {
    return keep(channels, n, true);
  }

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
  const std::uintptr_t* frames(const captured& c, std::size_t* n) const noexcept {
    return list(c.stack, n);
  }
  const std::uintptr_t* channels(const captured& c, std::size_t* n) const noexcept {
    return list(c.channels, n);
  }
  // fn(frames, n) gives a number for each stack; goroutines whose stacks have the same number get
  // the same stack. For dumps, which leave frames out.
  template <class Fn>
  void merge_stacks(Fn&& fn) noexcept;

 protected:
  template <class T>
  static T* map(std::size_t count, std::size_t* bytes) noexcept {
    return static_cast<T*>(map_bytes(count * sizeof(T), bytes));
  }

 private:
  struct stack_entry {
    std::uint64_t hash;
    std::uint32_t first, n;      // in frames_
    std::uint32_t same_as : 31;  // merge_stacks: itself, or an earlier one
    std::uint32_t is_channels : 1;
  };

  static void* map_bytes(std::size_t wanted, std::size_t* bytes) noexcept;
  std::uint32_t keep(const std::uintptr_t* frames, std::size_t n, bool channels) noexcept;
  const std::uintptr_t* list(std::uint32_t index, std::size_t* n) const noexcept;
  void merge_equal() noexcept;

  captured* records_ = nullptr;
  std::uintptr_t* frames_ = nullptr;
  stack_entry* stacks_ = nullptr;  // open addressing; entry 0 is never used
  std::size_t records_bytes_ = 0, frames_bytes_ = 0, stacks_bytes_ = 0;
  std::size_t capacity_ = 0, size_ = 0, left_out_ = 0;
  std::size_t frames_used_ = 0, frames_capacity_ = 0;
  std::size_t stacks_used_ = 0, stacks_capacity_ = 0;  // a power of two
};

template <class Fn>
void captured_set::merge_stacks(Fn&& fn) noexcept {
  if (stacks_ == nullptr) return;
  for (std::size_t i = 1; i < stacks_capacity_; ++i) {
    stack_entry& e = stacks_[i];
    if (e.n == 0 || e.is_channels) continue;
    e.hash = fn(frames_ + e.first, e.n);
    e.same_as = static_cast<std::uint32_t>(i) & 0x7fffffffu;
  }
  merge_equal();
}

}  // namespace vole::rt
