// What a descriptor is, as far as the next call needs to know.
//
// Law    a guess is asked about with every call that it could make wrong: it decides which of two
//        system calls is tried first, and nothing else. (A short read is believed to be all there
//        was if the guess says stream. The guess is forgotten at each hooked close.)
// Note   a socket that was read empty, and then written to, will hardly have its answer yet: the next
//        read looks whether it may wait, and waits, before it tries. If there is something after all,
//        the wait ends at once.
// Note   one byte per descriptor number; beyond kGuesses nothing is guessed.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "base/atomic.h"

namespace vole::hooks {

enum class kind : std::uint8_t {
  unknown,
  socket,
  drained,  // a socket whose last read got less than it had room for
  asked,    // and to which something was sent since
  stream,  // pipe, eventfd, timerfd: has a queue, and no position
  device,  // tty and other character devices
  file     // on a disk: always ready, and a call may block all the same
};

inline constexpr unsigned kGuesses = 4096;
extern base::atomic<kind> guesses[kGuesses];

inline kind guess(int fd) noexcept {
  const auto n = static_cast<unsigned>(fd);
  return n < kGuesses ? guesses[n].load(base::relaxed) : kind::unknown;
}
inline void remember(int fd, kind k) noexcept {
  const auto n = static_cast<unsigned>(fd);
  if (n < kGuesses && guesses[n].load(base::relaxed) != k) guesses[n].store(k, base::relaxed);
}

inline bool is_socket(kind k) noexcept { return k >= kind::socket && k <= kind::asked; }
inline void remember_received(int fd, bool less_than_room) noexcept {
  remember(fd, less_than_room ? kind::drained : kind::socket);
}
inline void remember_sent(int fd) noexcept {
  const kind k = guess(fd);
  remember(fd, k == kind::drained || k == kind::asked ? kind::asked : kind::socket);
}

kind ask_kind(int fd) noexcept;                           // and remembers it
bool ask_about(int fd, struct stat* about) noexcept;  // false: there is no such descriptor

}  // namespace vole::hooks
