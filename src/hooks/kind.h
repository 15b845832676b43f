// What a descriptor is, as far as the next call needs to know.
//
// Law    a guess is asked about with every call that it could make wrong: it decides which of two
//        system calls is tried first, and nothing else. (A short read is believed to be all there
//        was if the guess says stream. The guess is forgotten at each hooked close.)
// Note   one byte per descriptor number; beyond kGuesses nothing is guessed.
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::hooks {

enum class kind : std::uint8_t {
  unknown,
  socket,
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

kind ask_kind(int fd) noexcept;  // and remembers it

}  // namespace vole::hooks
