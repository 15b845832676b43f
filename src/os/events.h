// The contract with the operating system for the poller: a set of descriptors, and a wait for what
// happens to any of them (epoll; kqueue elsewhere).
//
// Who    poll.
// Where  anywhere; no lock, no malloc. wait_for_events: one thread at a time. ring: signal-safe.
// Law    what happens to a watched file while nobody waits is told by a later wait.
// Law    after ring(), the wait that is on, or the next one, returns, until stop_ringing().
#pragma once

#include <cstdint>

namespace vole::os {

struct event_set {
  int set = -1;  // negative: none
  int bell = -1;
};

// The bits of what happens are poll(2)'s. This one only some systems tell, and <poll.h> may lack it.
inline constexpr std::uint32_t kPeerIsDone = 0x2000;  // the other side will send no more

struct event {
  std::uint64_t data;
  std::uint32_t what;
};
inline constexpr std::uint64_t kRung = 0;  // the data of the bell's event; no file has it

// All of these: 0, or an errno value.
int make_event_set(event_set* s) noexcept;
void drop_event_set(const event_set& s) noexcept;  // what it watches stays open

// Whatever happens to the file is told once each time it happens, not again while it lasts. EPERM:
// a kind of file that never blocks.
int watch_changes(const event_set& s, int fd, std::uint64_t data) noexcept;
int stop_watching(const event_set& s, int fd) noexcept;  // ENOENT, EBADF: it was not watched

// The next of these things is told, and then no more. again_once: only if the number means a file that
// this set has watched before, else ENOENT. watch_once: only if it does not, else EEXIST.
int watch_once(const event_set& s, int fd, std::uint32_t what, std::uint64_t data) noexcept;
int again_once(const event_set& s, int fd, std::uint32_t what, std::uint64_t data) noexcept;

// Waits at most `ns` (0: only looks; negative: until something happens). How many were found; -EINTR: a
// signal has ended the wait.
inline constexpr int kMostEvents = 128;
int wait_for_events(const event_set& s, event (&found)[kMostEvents], std::int64_t ns) noexcept;

void ring(const event_set& s) noexcept;
void stop_ringing(const event_set& s) noexcept;

}  // namespace vole::os
