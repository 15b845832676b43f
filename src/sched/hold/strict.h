// Strict mode, VOLE_DEBUG=strictprocs=1: at most max_procs threads in user code [30].
//
// Each M has a timer of its own CPU time. When a slice is over and somebody else wants to run, its
// signal finds the goroutine in user code, and the handler (preempt_sig.cc) captures the thread:
//
//     running            -> preempted
//     the M's stand-in   -> the global queue
//     the P              -> handed off
//     sleep on the M's note, inside the handler, until
//       an M runs the stand-in:       with that M's P, -> running   (run_stand_in_g0)
//       it is released:               without a P, -> evicted       (release_all_captured)
//
// The goroutine keeps its thread, so registers, locks, thread_locals and errno are as they were.
// The stand-in is a runnable of its own kind, inside the M: an M that takes it from a queue finds the
// captured thread behind it or, after a release, nobody. The goroutine itself is in no queue
// meanwhile, and its lock_os_thread is not touched.
//
//     capture                            the M that takes the stand-in
//     captured = 1      (seq_cst)        queued = false    (seq_cst)
//     queued = true? else push           captured 1 -> 0? wake : drop it
//
// A stand-in left in a queue by a release serves the next capture, or is dropped before it; never
// both, never neither.
//
// Law    capture is never needed for progress and never allowed to stop it. A thread that holds a
//        lock of the runtime is not captured: it is inside (in_rt), a guest, or `undisturbed`.
//        The thread that changes `captured` from 1 to 0 wakes the M, and no other does.
// Note   docs/design/0009-strict-mode.md has the reasons for each release.
#pragma once

#include "arch/thread_word.h"
#include "gmp/m.h"

namespace vole::rt::strict {

// ── the life of it ──
void begin() noexcept;                 // a runtime starts
void thread_begins(M& m) noexcept;     // on its own thread, with its alternate stack
void thread_ends(M& m) noexcept;       // any thread
void wind_up(M& m) noexcept;           // a storm: the next signal, counted from now
bool on() noexcept;                    // asked for, and possible in this build

// Will the handler see to this M, so that sysmon need not take its P? `cpu`: for how long it has
// been running since it was first asked.
bool sees_to(const M& m, std::int64_t cpu) noexcept;

// ── captured threads ──
// The stand-in has been taken from a queue: m gives its P to the captured thread, and keeps it if that
// was released.
void run_stand_in_g0(M& m, stand_in& s) noexcept;
// Every captured thread runs on, without a P. Takes no lock.
void release_all_captured() noexcept;
// Captured threads are released for as long as a fork lasts.
void before_fork() noexcept;
void after_fork() noexcept;

// ── the handler ── os::preempt_hook
void on_slice_signal(const void* interrupted_sp, const void* context) noexcept;

// User context that holds locks of the runtime without being inside it.
// Nothing in between may park.
inline void leave_alone(int n) noexcept {
  compiler_barrier();  // the handler is on this very thread
  if (M* const m = arch::this_m()) m->undisturbed.store(m->undisturbed.load(relaxed) + n, relaxed);
  compiler_barrier();
}
class undisturbed {
 public:
  undisturbed() noexcept { leave_alone(1); }
  ~undisturbed() { leave_alone(-1); }
  undisturbed(const undisturbed&) = delete;
  undisturbed& operator=(const undisturbed&) = delete;
};

}  // namespace vole::rt::strict
