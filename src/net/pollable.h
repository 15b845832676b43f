// A file that any number of goroutines and threads use at once, and wait for.
//
// Who    src/net and src/file. Every user holds a reference: reads and writes by acquire and release,
//        a short look by `using_file`.
// Where  user context. Enters the runtime only to wait and to wake.
// Law    one word (Go's fdMutex) has the closing flag, one lock for each way, whether somebody queues
//        for it, and the references. The open file itself is one reference. Whoever drops the last one
//        closes the fd: no operation ever meets a number that has become another file.
// Law    the locks are handed over, first come, first served. A waiter in the queue has a reference.
// Law    close sets its flag, and set_deadline stores the deadline, before they look for waiters; a
//        waiter announces itself before it looks at either (poll/descriptor.h).
// Law    a context ends one wait, not the file: its interrupt lies in the waiter's frame, and is
//        armed for as long as the frame waits, for its turn or for an event. The interrupt first says
//        so (`said`, or the claim of a place in the queue) and then wakes the waiter, as close does.
// Note   `keepers` count the memory: the handle (a conn), the open file, and a closer. A file
//        that was closed stays a record, and says so, until its handle is gone.
// Note   the runtime may end under any goroutine in here. `abandon` then gives up its lock and its
//        reference, so that a plain thread that queued behind it goes on. (There is one exception: a
//        thread that the kernel stopped for so long on its way in that it became a zombie keeps them.)
// Proof  tests/model/pollable_model.cc; tests/stress/net_stress_test.cc
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomic.h"
#include "base/lock.h"
#include "poll/poll.h"
#include "sched/wait/interrupt.h"
#include "sched/wait/place.h"
#include "sched/park.h"
#include "sched/wait/p_timers.h"

namespace vole {
inline namespace v0 {
namespace detail {

using namespace base;
using rt::M;
using rt::waiter;
using rt::poll::way;

inline constexpr std::int64_t kNever = INT64_MAX;

class pollable {
 public:
  enum class outcome : std::uint8_t { go_on, closed, late, canceled };

  explicit pollable(int fd) noexcept;  // one keeper: the handle
  pollable(const pollable&) = delete;
  pollable& operator=(const pollable&) = delete;
  virtual ~pollable();

  // Begins to watch it. 0 or errno; then the fd is the caller's again. A kind of file that cannot
  // be watched never blocks, or blocks the thread.
  int attach() noexcept;
  bool watched() const noexcept { return descriptor_ != nullptr; }

  // ── one at a time each way ──
  bool acquire(way w) noexcept {  // false: closed
    std::uint64_t seen = word_.load(relaxed);
    while ((seen & (kClosing | locked(w))) == 0)
      if (word_.compare_exchange_strong(seen, (seen | locked(w)) + kOne, base::acquire, relaxed))
        return true;
    return (seen & kClosing) == 0 && acquire_slow(w);
  }
  // Acquires too, unless the context is done first; `by` may be null. go_on: the lock is ours.
  outcome acquire(way w, rt::interrupter* by) noexcept;
  void release(way w) noexcept {
    std::uint64_t seen = word_.load(relaxed);
    while ((seen & queued(w)) == 0) {
      const std::uint64_t next = (seen & ~locked(w)) - kOne;
      if (!word_.compare_exchange_strong(seen, next, acq_rel, relaxed)) continue;
      if (next < kOne) end_life(false);
      return;
    }
    release_slow(w);
  }

  // ── a reference, for a short look ──
  bool use() noexcept;  // false: closed
  void unuse() noexcept;

  // ── between acquire and release ──
  int fd() const noexcept { return fd_; }
  outcome state(way w) const noexcept;
  // Until something has happened in this way; for no reason, too. Try again.
  outcome wait(way w, rt::interrupter* by = nullptr) noexcept;
  // Nothing but data has ever come.
  bool has_only_data() const noexcept { return watched() && !descriptor_->odd.load(seq_cst); }
  // As wait, until that time at the latest.
  outcome wait_until(way w, std::int64_t when, rt::interrupter* by = nullptr) noexcept;

  // kNever: none. Any thread.
  void set_deadline(way w, std::int64_t when) noexcept;

  // Wakes every user and waits until they have left; then closes the fd, unless it is kept for the
  // caller. False: it was closed before. Users of a file that is not watched cannot be woken and are
  // not waited for: the last one that leaves closes it. `error` is the result of close(2), if that was
  // called here.
  bool close(bool keep_fd = false, int* error = nullptr) noexcept;
  bool closed() const noexcept { return (word_.load(seq_cst) & kClosing) != 0; }

  void keep() noexcept { keepers_.fetch_add(1, relaxed); }
  void drop() noexcept {
    if (keepers_.fetch_sub(1, acq_rel) == 1) delete this;
  }

  // The last act before the fd is closed or given back; there is no other reference.
  void blocking_at_end(bool yes) noexcept { blocking_at_end_ = yes; }

 private:
  static constexpr std::uint64_t kClosing = 1, kOne = 1 << 8;
  static constexpr std::uint64_t locked(way w) noexcept { return 2u << static_cast<unsigned>(w); }
  static constexpr std::uint64_t queued(way w) noexcept { return 8u << static_cast<unsigned>(w); }

  struct stop;
  // What a goroutine or plain thread holds here while it is inside the runtime; on its stack.
  struct stay {
    enum class having : std::uint8_t {
      place,    // in the queue, and a reference
      lock,     // and a reference
      nothing,  // but a reference
      closing,  // the open file's reference and a keeper
      keeper,
    };
    pollable* file;
    way w;
    having has;
    waiter* who = nullptr;          // it
    bool in_line = false;           // under guard_
    stop* ends = nullptr;           // by a context; while it is armed, or was
    atomic<std::uint32_t> over{
        0};  // who is here, or abandon, whichever changes it from 0, owns it
  };
  // The end of one wait by a context; in the waiter's frame.
  struct stop : rt::interrupt {
    explicit stop(rt::interrupter* by) noexcept : context(by) {}
    rt::interrupter* const context;
    waiter* whom = nullptr;  // to wake
    pollable* file = nullptr;
    way w{};
    atomic<std::uint32_t> winner{0};  // of a place in the queue
    atomic<bool> said{false};
  };
  struct line {
    waiter* first = nullptr;
    waiter* last = nullptr;
  };
  struct clock : rt::timer {
    pollable* file = nullptr;
    way w{};
    atomic<std::int64_t> armed{kNever};  // when it looks at the latest; kNever: it stands nowhere
    std::uint32_t generation = 0;        // of the runtime that it was armed in; under guard_
  };

  enum class entry : std::uint8_t { closed, ours, queued, canceled };
  bool acquire_slow(way w) noexcept;
  entry enter_line_locked(way w) noexcept VOLE_REQUIRES(guard_);
  entry line_up_locked(waiter* me, stay& s) noexcept VOLE_REQUIRES(guard_);
  // The wake values of a waiter for the lock. kLost: the file was closed; kStopped: its context was
  // done. In both cases the waiter still has a reference.
  static constexpr std::uintptr_t kYours = 1, kClosed = 2, kLost = 3, kStopped = 4;
  static std::uintptr_t told(entry e) noexcept;
  std::uintptr_t queue(way w, stop* by) noexcept;
  void release_slow(way w) noexcept;
  waiter* take_locked(way w, stay::having now_has) noexcept VOLE_REQUIRES(guard_);
  waiter* hand_over(way w) noexcept;
  void unqueue(waiter* me, stay& s) noexcept;
  bool count_down() noexcept;
  void end_life(bool at_end) noexcept;

  void evict(M* m, bool at_end) noexcept;
  void wait_until_closed() noexcept;

  bool begin_wait(M* m, way w, stop* by) noexcept;
  void wait_for_event(way w, stop* by) noexcept;

  // Inside. False: the context is done already.
  bool arm_for_event(stop& i, way w) noexcept;
  bool arm_for_turn(stop& i, way w, waiter* me) noexcept VOLE_REQUIRES(guard_);
  static void disarm(stop* i) noexcept;  // null: there is nothing to do
  static bool claim_event(rt::interrupt& i, M* m) noexcept;
  static void wake_from_event(rt::interrupt& i, M* m) noexcept;
  static bool claim_place(rt::interrupt& i, M* m) noexcept;
  static void wake_from_line(rt::interrupt& i, M* m) noexcept;

  std::int64_t look_at(way w) const noexcept;
  void arm(M* m, way w) noexcept;
  static void fire(rt::timer* t, M* m) noexcept;

  static void set_out(stay& s) noexcept;
  static void come_back(stay& s) noexcept;
  static void abandon(void* object, waiter* w) noexcept;
  template <class F>
  void within(way w, stay::having has, F f) noexcept;

  atomic<std::uint64_t> word_{kOne};
  const int fd_;
  bool blocking_at_end_ = false;  // its file is to be blocking again when we are done with it
  bool keep_fd_ = false;          // written by the one who closes
  int close_error_ = 0;           // written by the last one out
  atomic<std::uint32_t> keepers_{2};
  rt::poll::descriptor* descriptor_ = nullptr;
  atomic<std::int64_t> deadline_[2];  // by way
  atomic<std::int64_t> pause_[2];     // wait_until's; the holder's
  base::lock<lock_rank::object> guard_;
  line line_[2] VOLE_GUARDED_BY(guard_);
  clock clock_[2];                    // added and stopped under guard_
  atomic<std::uintptr_t> closer_{0};  // the waiter that waits for the end, or kGone
};

// Calls f(M*, is there a runtime, stay&) inside the runtime, from any thread; a guest has no M. If a
// goroutine is abandoned on the way in or out, `abandon` gives up what it holds.
template <class F>
void pollable::within(way w, stay::having has, F f) noexcept {
  rt::place mine;
  stay s{this, w, has, &mine.whose()};
  set_out(s);
  bool runs;
  M* const m = rt::enter_as(rt::this_m(), runs);
  f(m, runs, s);
  rt::leave_either(m);
  come_back(s);
}

// A reference for a block; false if the file is closed.
class using_file {
 public:
  explicit using_file(pollable* p) noexcept : file_(p != nullptr && p->use() ? p : nullptr) {}
  ~using_file() {
    if (file_ != nullptr) file_->unuse();
  }
  using_file(const using_file&) = delete;
  using_file& operator=(const using_file&) = delete;
  explicit operator bool() const noexcept { return file_ != nullptr; }

 private:
  pollable* const file_;
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
