// What libc does with bytes, done where TSan does not see it: under TSan the library calls these
// (cmake/races.cmake).
//
// Law    a loop stays a loop: the compiler would make a call of libc's of it, which is a call of
//        these.

#include "base/race.h"

#if defined(VOLE_RACES)

#include <cstddef>

namespace {

inline void as_written() noexcept { asm volatile("" ::: "memory"); }

using byte = unsigned char;

std::size_t length(const char* s, std::size_t most) noexcept {
  std::size_t n = 0;
  for (; n != most && s[n] != 0; ++n) as_written();
  return n;
}

int compare(const void* a, const void* b, std::size_t n, bool ends_at_0) noexcept {
  auto* x = static_cast<const byte*>(a);
  auto* y = static_cast<const byte*>(b);
  for (; n != 0; ++x, ++y, --n) {
    as_written();
    if (*x != *y) return *x - *y;
    if (ends_at_0 && *x == 0) return 0;
  }
  return 0;
}

}  // namespace

extern "C" {

void* vole_plain_memcpy(void* to, const void* from, std::size_t n) noexcept {
  for (std::size_t i = 0; i != n; ++i) {
    static_cast<byte*>(to)[i] = static_cast<const byte*>(from)[i];
    as_written();
  }
  return to;
}
void* vole_plain_memmove(void* to, const void* from, std::size_t n) noexcept {
  if (to <= from) return vole_plain_memcpy(to, from, n);
  while (n-- != 0) {
    static_cast<byte*>(to)[n] = static_cast<const byte*>(from)[n];
    as_written();
  }
  return to;
}
void* vole_plain_memset(void* at, int value, std::size_t n) noexcept {
  for (std::size_t i = 0; i != n; ++i) {
    static_cast<byte*>(at)[i] = static_cast<byte>(value);
    as_written();
  }
  return at;
}
int vole_plain_memcmp(const void* a, const void* b, std::size_t n) noexcept {
  return compare(a, b, n, false);
}
int vole_plain_bcmp(const void* a, const void* b, std::size_t n) noexcept {
  return compare(a, b, n, false);
}
int vole_plain_strcmp(const char* a, const char* b) noexcept {
  return compare(a, b, ~std::size_t{0}, true);
}
int vole_plain_strncmp(const char* a, const char* b, std::size_t n) noexcept {
  return compare(a, b, n, true);
}
std::size_t vole_plain_strlen(const char* s) noexcept { return length(s, ~std::size_t{0}); }
std::size_t vole_plain_strnlen(const char* s, std::size_t most) noexcept { return length(s, most); }
void* vole_plain_memchr(const void* at, int value, std::size_t n) noexcept {
  auto* p = static_cast<const byte*>(at);
  for (; n != 0; ++p, --n) {
    as_written();
    if (*p == static_cast<byte>(value)) return const_cast<byte*>(p);
  }
  return nullptr;
}
}

#endif
