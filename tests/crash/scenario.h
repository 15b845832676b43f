// A child program is a handful of scenarios; its argument picks one.
//
// Who    *_child.cc. They see what a user sees, include/vole, unless they say so.
// Law    a scenario that comes to its end where it should have died returns kAlive.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <vole/vole.h>

namespace vole::crash_test {

inline constexpr int kAlive = 98;    // "should have died"
inline constexpr int kUnknown = 99;  // no such scenario

struct scenario {
  std::string_view name;
  int (*play)();
};

template <std::size_t N>
int play(const scenario (&all)[N], int argc, char** argv) {
  for (const scenario& s : all)
    if (argc == 2 && s.name == argv[1]) return s.play();
  std::fprintf(stderr, "no such scenario\n");
  return kUnknown;
}

inline void say(const char* text) {
  std::fputs(text, stdout);
  std::fflush(stdout);
}

// On a goroutine: until some goroutine's paragraph in the dump contains `text`.
inline void until_dump_has(const char* text) {
  for (bool seen = false; !seen; yield()) {
    char* dump = nullptr;
    std::size_t size = 0;
    std::FILE* const file = open_memstream(&dump, &size);
    dump_goroutines(file);
    std::fclose(file);
    seen = std::strstr(dump, text) != nullptr;
    std::free(dump);
  }
}

}  // namespace vole::crash_test
