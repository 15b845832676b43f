// Reads a file line by line into a fixed buffer, without stdio.
//
// Who    os/linux only; one thread.
// Note   a line longer than the buffer comes cut; its rest is skipped.
#pragma once

#include <cstddef>
#include <string_view>

namespace vole::os {

class line_reader {
 public:
  explicit line_reader(const char* path) noexcept;
  ~line_reader();
  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  // False: no more lines, or the file could not be opened. The view lasts until the next call.
  bool next(std::string_view* line) noexcept;

 private:
  bool fill() noexcept;

  int fd_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  char text_[8192];
};

// The next field of `text` up to `separator`; `text` keeps what follows it.
std::string_view take_field(std::string_view* text, char separator) noexcept;

}  // namespace vole::os
