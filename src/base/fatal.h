// What cannot go on ends the program with a sentence, never without one.
//
// Who    every room. Signal-safe: no malloc, no stdio.
// Law    fatal() prints "vole: fatal: <sentence>", then the goroutine dump if the
//        upper floors have installed one, then aborts. The dump begins with the goroutine that
//        called, so the sentence says what happened, to which object, and what to do about it.
//        broken() is for an invariant of vole's own: it adds what to do, which is always the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vole::base {

// A sentence put together in a fixed buffer; what does not fit is cut.
class sentence {
 public:
  static constexpr std::size_t kRoom = 480;

  sentence& operator<<(std::string_view text) noexcept;
  sentence& operator<<(const char* text) noexcept { return *this << std::string_view(text); }
  sentence& operator<<(std::uint64_t number) noexcept;
  sentence& operator<<(std::int64_t number) noexcept;
  sentence& operator<<(int number) noexcept { return *this << static_cast<std::int64_t>(number); }
  sentence& operator<<(unsigned number) noexcept {
    return *this << static_cast<std::uint64_t>(number);
  }
  sentence& hex(std::uint64_t number) noexcept;
  std::string_view view() const noexcept { return {text_, size_}; }
  void print() const noexcept;  // to stderr, as it is

 private:
  std::size_t size_ = 0;
  char text_[kRoom];
};

[[noreturn]] void fatal(std::string_view what) noexcept;
[[noreturn]] inline void fatal(const sentence& what) noexcept { fatal(what.view()); }
[[noreturn]] void broken(std::string_view what) noexcept;
[[noreturn]] inline void broken(const sentence& what) noexcept { broken(what.view()); }

// Called once, after the sentence, on the dying thread. Must be signal-safe.
void set_fatal_hook(void (*hook)() noexcept) noexcept;

// To be called before the first byte of any last words, fatal()'s or others': from now on this thread
// ends the program. If another thread does already, this one waits for the end and does not return.
void begin_last_words() noexcept;
// Does not return if another thread is ending the program. Code that would end it with an exit status
// of its own calls this first, so that the last words are printed and their status counts.
void wait_if_dying() noexcept;
// This thread will never speak again. If it was to end the program, it does so now.
void end_if_dying() noexcept;
// In a forked child, where no other thread is.
void forget_dying_threads() noexcept;

}  // namespace vole::base
