// A terminal for `vole top`: plain ANSI, given back as it was.
#pragma once

#include <termios.h>

#include <string>

#include "page.h"

namespace vole_command::outside {

class screen {
 public:
  screen();   // refuses if stdin or stdout is no terminal
  ~screen();  // the terminal is as before
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  page_size size() const;
  void show(const std::string& text);
  enum class event { time_is_up, quit, resized };
  event wait(int milliseconds);

 private:
  termios before_{};
  int signals_ = -1;  // SIGWINCH, and what should end us
};

}  // namespace vole_command::outside
