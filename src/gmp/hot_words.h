// Enter, leave, retake: how an M uses its P and how another thread takes it away.
//
// User code needs no P; only the runtime does. So a P may be taken from a thread
// at any moment at which that thread is not inside the runtime, without stopping
// it and without asking it:
//
//     the M                          the taker (holds the M's retake lock)
//     enter:  in_rt = 1              hide:  p = null
//             p ? go on : slow path  membarrier on every core
//     leave:  in_rt = 0              look:  in_rt == 0 ? ours : put p back
//             attention ? slow path
//
// After the membarrier every enter either has been seen (in_rt is 1, we give up)
// or will see p hidden (and wait for the lock). Hide-barrier-look is the whole
// point: look before hide, or no barrier, and two threads use one P.
// If the taker also sets `attention` before hiding, then a failed look means that
// the M will see the attention word when it leaves.
//
// Who    enter, leave: the M itself. hide, look, unhide: whoever holds its retake
//        lock. The M changes p itself (acquire, release) only under that lock, too.
// Law    p != null implies that this M owns *p. in_rt == 0 implies that the M
//        touches no scheduler state.
// Note   no P pointer survives leave, a switch or a user callback.
// Proof  tests/model/retake_model.cc
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::rt {

using namespace base;

// The words of an M that every entry touches: one cache line, nothing else on it.
template <class P>
struct alignas(64) hot_words {
  atomic<std::uint32_t> in_rt{1};
  atomic<std::uint32_t> quiet{0};  // 1: asleep inside, writes no events (trace/advance.h)
  atomic<std::uint32_t> attention{0};
  // Reasons not to switch in the plainest way; 0: none (sched/life/switch.cc). The M itself sets
  // kLocked, the thread that begins a trace kTraced, the inbox's lock guards kMail. Beside `attention`: both are read together.
  atomic<std::uint32_t> unplain{0};
  atomic<P*> p{nullptr};
  static constexpr std::uint32_t kLocked = 1, kTraced = 2, kMail = 4;

  // ── the M ──
  // nullptr: the P is away, or is being looked at; take the slow path.
  P* enter() noexcept {
    in_rt.store(1, relaxed);
    compiler_barrier();  // pairs: membarrier between hide and look
    return p.load(std::memory_order_acquire);  // pairs: unhide
  }
  // True: somebody wants the M's attention; take the slow path.
  bool leave() noexcept {
    in_rt.store(0, std::memory_order_release);  // pairs: look
    compiler_barrier();                         // pairs: membarrier between hide and look
    return attention.load(relaxed) != 0;
  }

  // ── the taker ──
  P* hide() noexcept {
    P* const was = p.load(relaxed);
    p.store(nullptr, relaxed);
    return was;
  }
  bool look() const noexcept { return in_rt.load(std::memory_order_acquire) == 0; }  // pairs: leave
  void unhide(P* was) noexcept { p.store(was, std::memory_order_release); }  // pairs: enter
};

}  // namespace vole::rt
