// The status of a G, of a P and of an M, and the only way to change each: set_status, one function
// for each letter, in its header. An event of every transition would stand there.
//
// Who    G: the M that runs or readies it; for `evicted` the taker of its P, under the M's retake
//        lock. P: its owner. M: its own thread, and the thread that takes it off the idle list.
// Law    only the transitions of the tables in status.cc happen; checked builds look at each one and
//        abort with both names.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/atomic.h"

namespace vole::rt {

using namespace base;

enum class g_status : std::uint8_t {
  idle,      // a record without a goroutine: fresh memory, or being filled in
  runnable,  // in exactly one queue, or in the hands of whoever queues it
  running,   // on an M that has a P
  syscall,  // in blocking(); never set: shown for a goroutine whose M has the mark (sched/life/call.h)
  waiting,    // parked; its waiter record says where
  dead,       // in a free list
  preempted,  // stopped by a signal, asleep on its M
  evicted,    // runs on, on an M whose P was taken
};

std::string_view name_of(g_status s) noexcept;

// The word itself. A class of its own, so that nothing else can write it.
class status_word {
 public:
  g_status get() const noexcept { return now_.load(std::memory_order_acquire); }

 private:
  friend void set_status(struct G& g, g_status from, g_status to) noexcept;
  atomic<g_status> now_{g_status::idle};
};

enum class p_status : std::uint8_t {
  idle,     // on the idle list
  running,  // an M's, or on its way to one
  stopped,  // the world-stopper's
  dead,     // there are fewer now
};

std::string_view name_of(p_status s) noexcept;

class p_status_word {
 public:
  p_status load(std::memory_order order) const noexcept { return now_.load(order); }

 private:
  friend void set_status(struct P& p, p_status to) noexcept;
  atomic<p_status> now_{p_status::idle};
};

enum class m_status : std::uint8_t {
  free,     // a record without a thread
  awake,    // searches, runs a goroutine, or is on its way from one to the other; or is being born
  idle,     // asleep on its note, or about to be
  polling,  // waits in the poller, without a P
};

std::string_view name_of(m_status s) noexcept;

// One of the three words that together are an M's status: `alive` unless it is free; `idle`;
// `polling`. A reader that asks for one of them reads one word.
class m_status_word {
 public:
  bool load(std::memory_order order) const noexcept { return is_.load(order); }

 private:
  friend void set_status(struct M& m, m_status to) noexcept;
  void set(bool is, std::memory_order order) noexcept {
    if (is_.load(relaxed) != is) is_.store(is, order);
  }
  atomic<bool> is_{false};
};

// Abort unless it may become `to`, and g is `from`. Checked builds only.
void check_status(const struct G& g, g_status from, g_status to) noexcept;
void check_status(const struct P& p, p_status to) noexcept;
void check_status(const struct M& m, m_status to) noexcept;

}  // namespace vole::rt
