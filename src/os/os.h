// The contract with the operating system for clocks, threads, processors, memory and
// signals. A port is one folder with what the headers of this room and base/system.h declare.
//
// Who    every room that lists os(os.h) in tools/layers.txt.
// Where  none of these allocates with malloc, throws or takes a foreign lock,
//        except where a line says "user context only".
// Law    failures are returned (an errno value, or false), never swallowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/system.h"

namespace vole::os {

// ── clock ──
std::int64_t now_ns() noexcept;                       // CLOCK_MONOTONIC
std::int64_t wall_ns() noexcept;                      // since 1970
std::int64_t thread_cpu_ns() noexcept;                // the calling thread's CPU time
std::int64_t thread_sleeps() noexcept;                // how often it has slept in the kernel
std::int64_t cpu_ns_of(std::uint64_t thread_id) noexcept;  // another's; negative: there is no such

// ── randomness ──
// Another number at each call, for a generator to begin with (base/rand.h). Cheap; no secret.
std::uint64_t random_seed() noexcept;

// ── threads ──
struct thread {
  std::uint64_t handle = 0;
};
struct thread_spec {
  void (*main)(void*) = nullptr;
  void* arg = nullptr;
  const char* name = "vole";      // at most 15 characters
  bool block_signals = false;     // true: all but faults; false: the mask of save_signal_mask()
  bool runs_for_users = false;    // what it does for one comes before what it does for the next
};
// Stack of at least 256 KiB. Returns 0 or an errno value. User context, or the thread maker.
int create_thread(thread* t, const thread_spec& spec) noexcept;
thread this_thread() noexcept;
// A thread like any that a program makes: its stack is as large as such a thread's, and nobody joins
// it. Returns 0 or an errno value. User context only.
int start_plain_thread(void (*main)() noexcept) noexcept;
void join_thread(thread t) noexcept;
void detach_thread(thread t) noexcept;
// Does the calling thread block a signal that threads of ours do not? So it is in a signal handler.
bool signals_are_blocked() noexcept;
void save_signal_mask() noexcept;  // remembers the caller's mask for later create_thread
[[noreturn]] void park_forever() noexcept;
void yield_thread() noexcept;
void sharpen_timeouts() noexcept;  // the calling thread's timed sleeps end on time, not 50 us late
std::uint32_t thread_count() noexcept;  // kernel threads of this process; many if unknown
std::uint64_t thread_id() noexcept;  // the kernel's id of the calling thread
// The state of a thread of this process: running or ready to run, sleeping in the kernel, stopped by
// a debugger. `sleeping` if that cannot be found out.
enum class thread_state : std::uint8_t { running, sleeping, stopped };
thread_state state_of(std::uint64_t thread_id) noexcept;

// A word of our own memory, which may not be there: then false. Signal-safe; a system call.
bool read_own_memory(std::uintptr_t address, std::uintptr_t* word) noexcept;

// How long that thread would like to run at a time once it has a processor: the longer, the later
// it gets one (EEVDF). 0: as the kernel does by itself. No effect before Linux 6.12.
void prefer_slice(std::uint64_t thread_id, std::int64_t ns) noexcept;

// ── processors ──
// min(affinity, max(2, ceil(cgroup quota / period))), the quota read up to the root; at least 1.
int cpu_count() noexcept;

// ── every other core passes a full barrier ──
// False: this kernel has no private expedited membarrier. Call once before use.
bool membarrier_register() noexcept;
void membarrier() noexcept;

// ── memory ──
std::size_t page_size() noexcept;
// Address space only: no access, no commit charge, no huge pages, never locked. nullptr: refused.
// The name shows in /proc/self/maps where the kernel can.
std::byte* reserve(std::size_t bytes, const char* name = "vole") noexcept;
void unreserve(std::byte* at, std::size_t bytes) noexcept;
// Makes [at, at+bytes) readable and writable, page by page as touched. 0 or errno.
int make_writable(std::byte* at, std::size_t bytes) noexcept;
// Guards `count` pages, the first at `first`, each `stride` bytes after the last, as cheaply as
// this kernel can (MADV_GUARD_INSTALL). 0; ENOSYS/EINVAL: not here, use protect_page. The pages are
// new: nobody has written to them.
int install_guards(std::byte* first, std::size_t stride, std::size_t count) noexcept;
// One page without access by mprotect: costs two mappings. 0 or errno.
int protect_page(std::byte* page) noexcept;
// How many mappings we may use for guards: vm.max_map_count less what is left to the others.
std::size_t mapping_budget() noexcept;
// Gives the pages back; the range stays mapped and reads as zero. 0 or errno.
int discard(std::byte* at, std::size_t bytes) noexcept;

// ── signals ──
// The calling thread gets its own alternate signal stack (256 KiB or more, with a guard page);
// false: refused. drop_ takes it away again before the thread ends.
bool make_alternate_stack(std::byte** memory) noexcept;
void drop_alternate_stack(std::byte* memory) noexcept;
bool in_alternate_stack(const std::byte* memory, const void* address) noexcept;
// Called in signal context for SIGSEGV, SIGBUS, SIGFPE and SIGILL that an instruction has caused.
// Returns if the fault is not ours; then the handler that was there before us, or the default
// action, has its turn.
struct fault {
  const char* name;      // "SIGSEGV"
  bool has_address;      // SIGSEGV, SIGBUS, unless the kernel does not say
  void* address;         // of the memory that it wanted
  const void* at;        // the instruction
  bool kills;            // nobody handles it: the program is about to die of it
  const void* context;   // what the kernel saved of the code (a ucontext_t)
};
using fault_hook = void (*)(const fault& f) noexcept;
bool install_fault_handler(fault_hook hook) noexcept;
void remove_fault_handler() noexcept;  // puts back the former one, if ours is still there

// Signals that the program has asked for. From hear_ to unhear_ each one is counted and changes the
// wake word; unhear_ puts back the handler that was there before. One thread at a time.
inline constexpr int kMostSignals = 64;
int hear_signal(int number) noexcept;  // 0 or errno
void unhear_signal(int number) noexcept;
int ignore_signal(int number) noexcept;  // 0 or errno
int reset_signal(int number) noexcept;   // as it was before the first of these calls; 0 or errno
std::uint32_t take_signals(int number) noexcept;  // how many came since it was last asked
std::uint32_t signal_wake_word() noexcept;
void sleep_until_signal(std::uint32_t seen) noexcept;  // since `seen` was read; may return early
void ring_for_signals() noexcept;  // signal-safe

// ── preemption by signal ──
// May a program catch it without losing faults, job control by force, or libc's own signals?
bool may_preempt_with(int signal) noexcept;
// `hook` is called in signal context, every signal blocked, with the interrupted stack pointer and
// the registers that the kernel saved (a ucontext_t), whenever a slice timer's signal comes. If the
// signal comes from elsewhere, the handler that was there before us, or the default action, has it.
// Stays for the life of the process. False: refused.
using preempt_hook = void (*)(const void* interrupted_sp, const void* context) noexcept;
bool install_preempt_handler(int signal, preempt_hook hook) noexcept;
// A timer that sends the calling thread that signal after each `ns` nanoseconds of its CPU time
// (never interrupting a call that blocks); or once, by the clock on the wall, until it is wound up
// again. 0 or errno.
int start_slice_timer(int* id, int signal, std::int64_t ns, bool wall) noexcept;
void wind_up_slice_timer(int id, std::int64_t ns) noexcept;
void stop_slice_timer(int id) noexcept;  // on any thread

// ── asking a thread where it is ──
// By the same signal and handler, installed when the first question is asked. `hook` is called in
// signal context, on the thread that was asked, with what the kernel saved of the interrupted code
// (a ucontext_t). A slice timer's signal calls it, too: of two that are pending the kernel keeps
// one. False: refused.
using question_hook = void (*)(const void* context) noexcept;
bool install_question_handler(int signal, question_hook hook) noexcept;
// False: refused, or there is no such thread in this process.
bool ask_thread(std::uint64_t thread_id, int signal) noexcept;

// ── SIGQUIT ──
// `hook` is called in signal context whenever one comes; then the handler that was there before us
// has its turn, if there was one. Stays for the life of the process. 0 or errno.
using quit_hook = void (*)() noexcept;
int install_quit_handler(quit_hook hook) noexcept;

// ── fork ──
std::uint64_t process_id() noexcept;
// A race detector is told that this thread's variables, errno too, are used by one goroutine after the
// other, though nothing that it sees orders them.
void unwatch_thread_locals() noexcept;
bool is_static(const void* object) noexcept;  // part of the program, or of a library it has loaded

// Run by every later fork(): in the parent before and after, and in the child. Registered once per
// process; a later call replaces them. False: refused. User context only.
struct fork_hooks {
  void (*before)() noexcept;
  void (*in_parent)() noexcept;
  void (*in_child)() noexcept;
};
bool on_fork(const fork_hooks* hooks) noexcept;  // kept, not copied

// ── files ── user context, or a thread of its own; 0 or errno
int create_file(const char* path, int* fd) noexcept;  // or empties it
// All of both parts, one after the other.
int write_file(int fd, const void* first, std::size_t first_bytes, const void* second,
               std::size_t second_bytes) noexcept;
int rewrite_file(int fd, std::size_t offset, const void* bytes, std::size_t n) noexcept;
bool is_plain_file(int fd) noexcept;  // one that can be rewritten
int close_file(int fd) noexcept;
// A file of zeros, mapped and shared: its contents outlive the process.
int map_new_file(const char* path, std::size_t bytes, std::byte** at) noexcept;

// ── errno, of the calling thread ──
[[gnu::visibility("default")]] int get_errno() noexcept;  // hooks/ calls these two
[[gnu::visibility("default")]] void set_errno(int value) noexcept;

// ── environment ──
const char* environment(const char* name) noexcept;  // nullptr: not set

// "Cannot allocate memory", "errno 12" if unknown. Signal-safe.
std::string_view error_text(int error) noexcept;

}  // namespace vole::os
