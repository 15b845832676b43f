#include "os/linux/line_reader.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "os/linux/bare_calls.h"

namespace vole::os {

line_reader::line_reader(const char* path) noexcept : fd_(::open(path, O_RDONLY | O_CLOEXEC)) {}

line_reader::~line_reader() {
  if (fd_ >= 0) bare::close(fd_);
}

// Moves what is left to the front and reads behind it. False: the end, or no room.
bool line_reader::fill() noexcept {
  std::memmove(text_, text_ + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (fd_ < 0 || end_ == sizeof text_) return false;
  long n = 0;
  do {
    n = bare::read(fd_, text_ + end_, sizeof text_ - end_);
  } while (n == -EINTR);
  if (n <= 0) return false;
  end_ += static_cast<std::size_t>(n);
  return true;
}

bool line_reader::next(std::string_view* line) noexcept {
  std::size_t seen = 0;
  for (;;) {
    const std::string_view left(text_ + begin_, end_ - begin_);
    const std::size_t at = left.find('\n', seen);
    if (at != std::string_view::npos) {
      *line = left.substr(0, at);
      begin_ += at + 1;
      return true;
    }
    seen = left.size();
    if (!fill()) break;
  }
  if (begin_ == end_) return false;
  *line = std::string_view(text_ + begin_, end_ - begin_);
  if (end_ < sizeof text_) {  // the last line, without its newline
    begin_ = end_;
    return true;
  }
  // Too long: skip up to its end. The view stays good, what follows is read after it.
  char c = 0;
  while (bare::read(fd_, &c, 1) == 1 && c != '\n') {
  }
  begin_ = end_;
  return true;
}

std::string_view take_field(std::string_view* text, char separator) noexcept {
  const std::size_t at = text->find(separator);
  const std::string_view field = text->substr(0, at);
  *text = at == std::string_view::npos ? std::string_view() : text->substr(at + 1);
  return field;
}

}  // namespace vole::os
