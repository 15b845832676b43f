#include "screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "../refusal.h"

namespace vole_command::outside {
namespace {

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

sigset_t ours() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGWINCH, SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, s);
  return set;
}

}  // namespace

screen::screen() {
  if (isatty(STDOUT_FILENO) == 0 || tcgetattr(STDIN_FILENO, &before_) != 0)
    throw refusal("needs a terminal; --once prints one page anywhere");
  const sigset_t set = ours();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  put("\x1b[?1049h\x1b[?25l");  // another screen, without a cursor
}

screen::~screen() {
  put("\x1b[?25h\x1b[?1049l");
  tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  if (signals_ >= 0) close(signals_);
}

page_size screen::size() const {
  winsize w{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_row == 0) return {24, 80};
  return {w.ws_row, w.ws_col};
}

void screen::show(const std::string& text) {
  std::string all = "\x1b[H";
  for (const char c : text.substr(0, text.empty() ? 0 : text.size() - 1)) {
    if (c == '\n') all += "\x1b[K\r";  // the rest of the line is empty
    all += c;
  }
  put(all + "\x1b[K\x1b[J");
}

screen::event screen::wait(int milliseconds) {
  pollfd both[] = {{STDIN_FILENO, POLLIN, 0}, {signals_, POLLIN, 0}};
  if (poll(both, 2, milliseconds) <= 0) return event::time_is_up;
  if ((both[1].revents & POLLIN) != 0) {
    signalfd_siginfo info{};
    const ssize_t n = read(signals_, &info, sizeof info);
    return n == sizeof info && info.ssi_signo == SIGWINCH ? event::resized : event::quit;
  }
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) != 1) return event::quit;  // the terminal is gone
  return key == 'q' || key == 'Q' || key == 3 ? event::quit : event::resized;
}

}  // namespace vole_command::outside
