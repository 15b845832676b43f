#include <array>
#include <cerrno>
#include <cstring>

#include "os/os.h"

namespace vole::os {

[[gnu::noinline]] int get_errno() noexcept { return errno; }
[[gnu::noinline]] void set_errno(int value) noexcept { errno = value; }

namespace {

constexpr int kNumbers = 1024;  // the kernel's own ones end at 530
using line = std::array<char, 12>;

// "errno 0" to "errno 1023", made by the compiler: a signal handler needs no buffer.
consteval std::array<line, kNumbers> make_table() {
  std::array<line, kNumbers> table{};
  for (int n = 0; n < kNumbers; ++n) {
    line& l = table[static_cast<std::size_t>(n)];
    std::size_t at = 0;
    for (const char c : std::string_view("errno ")) l[at++] = c;
    int scale = 1;
    while (n / scale >= 10) scale *= 10;
    for (; scale > 0; scale /= 10) l[at++] = static_cast<char>('0' + n / scale % 10);
  }
  return table;
}

constinit const std::array<line, kNumbers> numbers = make_table();

}  // namespace

std::string_view error_text(int error) noexcept {
  const char* const text = strerrordesc_np(error);
  if (text != nullptr) return text;
  if (error < 0 || error >= kNumbers) return "unknown error";
  return numbers[static_cast<std::size_t>(error)].data();
}

}  // namespace vole::os
