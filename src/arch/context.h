// The doors: the only places where a thread changes stacks. Contract for a port.
//
// A door saves the callee-saved registers and the floating-point control word on
// the stack it leaves, calls the scheduler's choice as an ordinary balanced call,
// loads the chosen stack, does there what the departed goroutine left behind (mostly
// one store, which frees a lock or moves a ring's back on; sometimes a commit, which is
// a function), leaves the runtime, and *jumps* to the return address it finds there.
// No frame of ours is live across the switch, so no return is predicted
// wrongly: a mispredicted return costs about 10 ns here, the switch itself 2.5 ns.
//
// Who    park, wait and yield are called by a goroutine, vole_run_g by g0;
//        vole_goroutine_start is the first frame of a stack.
// Where  park, wait: inside the runtime, holding the lock that the arrival will free.
//        yield: user code. All return in user code (in_rt == 0), perhaps on
//        another thread.
// Law    a goroutine's context is saved before anybody can see the goroutine: its
//        store is made, its commit runs, on the next stack (I11).
//        After the store somebody may sleep on the lock that it freed: see base/lock.h.
// Note   not swapped: errno, signal mask, locale, cancel state, thread_local. The
//        sticky floating-point exception flags stay with the thread, too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/offsets.h"
#include "base/atomic.h"

namespace vole::rt {
struct G;
struct M;
// Runs on arrival, on another stack, in the runtime. False: do not sleep after all; `g` is
// made ready again.
using commit_fn = bool (*)(G* g, void* arg) noexcept;
}  // namespace vole::rt

extern "C" {

// ── implemented in assembly ──

// Departs from the current goroutine. Returns its wake value when it is resumed.
std::uintptr_t vole_door_park(vole::rt::commit_fn commit, void* arg, std::uint32_t reason) noexcept;
// The same for a goroutine that leaves behind nothing but a lock, which it holds: the next stack
// frees it by storing 0 in `word`.
std::uintptr_t vole_door_wait(vole::base::atomic<std::uint32_t>* word,
                              std::uint32_t reason) noexcept;
void vole_door_yield() noexcept;
// From g0 onto a goroutine's stack; returns when this M is back on g0.
void vole_run_g(vole::rt::M* m, void* sp) noexcept;
// Where a fresh stack begins; never called.
void vole_goroutine_start() noexcept;
// Abandons every frame on this stack, whose first stack pointer is `top`, and ends the goroutine.
[[noreturn]] void vole_goroutine_end(void* top) noexcept;

// ── called from assembly, implemented in sched/ ──

struct vole_next {
  void* sp;          // the stack to continue on; null (vole_goroutine_finish only): this one, afresh
  vole::rt::M* m;
};
vole_next vole_decide_park(vole::rt::commit_fn commit, void* arg, std::uint32_t reason,
                           void* sp) noexcept;
vole_next vole_decide_wait(std::uint32_t reason, void* sp) noexcept;
vole_next vole_decide_yield(void* sp) noexcept;
// Runs the current goroutine's function, then picks the next. Lets exceptions through: the
// frame above it ends the unwinding, so std::terminate sees the throwing stack.
vole_next vole_goroutine_main();
vole_next vole_goroutine_finish() noexcept;
void vole_refused(vole::rt::M* m, vole::rt::G* g) noexcept;  // its commit was false: make g ready
void vole_wake_sleeper(vole::base::atomic<std::uint32_t>* word) noexcept;  // freed, by its address
void vole_leave_slow() noexcept;  // the attention word was set on leaving
}

namespace vole::arch {

// Prepares a fresh stack: the returned sp, loaded by a door, starts vole_goroutine_start.
void* make_first_frame(std::byte* top) noexcept;

}  // namespace vole::arch
