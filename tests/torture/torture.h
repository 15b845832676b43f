// What the players of the torture share: chance, the end of a round, and what must hold.
//
// Law    a player does one act after the other until the round is over. An act checks what it has
//        made and leaves nothing behind: no goroutine, no timer, no open file.
// Law    what does not hold ends the program at once, with the seed and a dump of all goroutines.
#pragma once

#include <vole/vole.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace torture {

// Small, copyable, one for each goroutine.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) { below(2); }
  std::uint32_t below(std::uint32_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 33) % n);
  }
  bool once_in(std::uint32_t n) { return below(n) == 0; }
  std::chrono::microseconds up_to_us(std::uint32_t n) {
    return std::chrono::microseconds(below(n));
  }
  dice fork() { return dice(std::uint64_t{below(1u << 31)} << 31 | below(1u << 31)); }

 private:
  std::uint64_t state_;
};

struct round {
  const int procs;  // at its begin and its end
  std::atomic<bool> over{false};
};

struct player {
  const char* name;
  void (*act)(round&, dice&);
};

std::span<const player> talkers();   // talk.cc: spawn, channels, select, locks
std::span<const player> waiters();   // wait.cc: timers, sockets, contexts, calls
std::span<const player> breakers();  // break.cc: hogs, resizes, threads, exits, looks from beside

// What is left after a phase.
struct sample {
  double seconds;  // since the first phase began
  int procs;
  long resident_kb, threads, files;
};
bool draw(const char* path, std::uint64_t seed, const std::vector<sample>&);  // picture.cc: an SVG

[[noreturn]] void fail(const char* sentence, const char* file, int line);
[[noreturn]] void fail(const std::string& sentence, const char* file, int line);

}  // namespace torture

#define MUST(condition) \
  (static_cast<bool>(condition) ? void() : torture::fail(#condition, __FILE__, __LINE__))
