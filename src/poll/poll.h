// The network poller. What it knows of the kernel is os/events.h.
//
// The poller knows files and who waits for them. It wakes nobody: wait() returns the waits
// that are complete, with their result, and the scheduler makes them runnable. A poller that
// completes operations rather than reporting readiness (io_uring) would put the operation's
// result where this one puts kReadyAgain: "try again, it will not block".
//
// Who    open, close: any thread. wait: one thread at a time (sched/work/netpoll.h sees to it).
//        interrupt: any thread, signal-safe.
// Where  anywhere; takes no lock but lock_rank::poll, never allocates with malloc.
// Law    an event for an open descriptor is never lost: it is in its word, or its waiter is
//        in a list that wait() returned.
// Law    after interrupt(), the blocking wait that is on, or the next one, returns.
// Note   the kernel objects are made by start() and last as long as the process:
//        descriptors outlive a runtime. One set serves all Ps; nothing here would
//        mind one per P.
#pragma once

#include <cstddef>
#include <cstdint>

#include "poll/descriptor.h"

namespace vole::rt::poll {

// The wake value (park's result) of a waiter whose file is ready.
inline constexpr std::uintptr_t kReadyAgain = 0;

// Complete waits, oldest first.
struct completions {
  waiter* first = nullptr;
  waiter* last = nullptr;
  std::uint32_t count = 0;

  void push(waiter* w) noexcept {
    w->next = nullptr;
    (last != nullptr ? last->next : first) = w;
    last = w;
    ++count;
  }
  // nullptr: none left. Only then may the waiter be woken: it may be gone after that.
  waiter* pop() noexcept {
    waiter* const w = first;
    if (w == nullptr) return nullptr;
    first = w->next;
    if (first == nullptr) last = nullptr;
    --count;
    w->next = nullptr;
    return w;
  }
};

// Begins to watch fd in both directions; it is non-blocking and stays open until close(d) has
// returned. 0, or an errno value: EPERM says that this kind of file never blocks.
int open(int fd, descriptor** out) noexcept;

// Nobody waits there any more. The fd is still open.
void close(descriptor* d) noexcept;

// Makes the kernel objects, if there are none yet. 0 or errno.
int start() noexcept;

// In a forked child, where no runtime runs: kernel objects of its own, which watch its files. The
// parent's would give each of the two what is meant for the other.
void start_again_in_child() noexcept;

// How many are open. The poller is worth asking when there are any.
std::size_t open_count() noexcept;

// Waits for events, at most `timeout` ns (0: only looks; negative: until one comes or it is
// interrupted). Appends what is complete.
void wait(std::int64_t timeout, completions& done) noexcept;

void interrupt() noexcept;

// Every descriptor with somebody asleep in it: fn(descriptor&, way). For the runtime's end and for
// questions; sees what it sees.
void for_each_wait(void (*fn)(descriptor& d, way w, void* arg) noexcept, void* arg) noexcept;

}  // namespace vole::rt::poll
