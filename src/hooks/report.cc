#include "hooks/report.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/atomic.h"

namespace vole::hooks::report {

constinit bool wanted = false;

namespace {

struct line {
  const char* name;
  base::atomic<std::uint64_t> called{0}, parked{0}, blocked{0}, bare{0};
};

constinit line lines[] = {
#define VOLE_LINE(name) {#name},
    VOLE_HOOKED(VOLE_LINE)
#undef VOLE_LINE
};

line& of(symbol which) noexcept { return lines[static_cast<std::size_t>(which)]; }
void add(base::atomic<std::uint64_t>& n) noexcept { n.fetch_add(1, base::relaxed); }

bool asked_for(std::string_view settings) noexcept {
  while (!settings.empty()) {
    const std::size_t end = settings.find(',');
    if (settings.substr(0, end) == "hooks=1") return true;
    if (end == settings.npos) return false;
    settings.remove_prefix(end + 1);
  }
  return false;
}

[[gnu::constructor(102)]] void at_load() {
  const char* const settings = std::getenv("VOLE_DEBUG");
  wanted = settings != nullptr && asked_for(settings);
}

unsigned long long count(const base::atomic<std::uint64_t>& n) noexcept {
  return n.load(base::relaxed);
}

[[gnu::destructor]] void at_end() {
  if (!wanted) return;
  for (const line& l : lines) {
    if (l.called.load(base::relaxed) == 0) continue;
    std::fprintf(stderr,
                 "vole: hooks: %s: %llu calls, %llu parked, %llu in blocking(), %llu bare\n",
                 l.name, count(l.called), count(l.parked), count(l.blocked), count(l.bare));
  }
}

}  // namespace

void called(symbol which) noexcept { add(of(which).called); }
void parked(symbol which) noexcept { add(of(which).parked); }
void blocked(symbol which) noexcept { add(of(which).blocked); }
void left_bare(symbol which) noexcept { add(of(which).bare); }

}  // namespace vole::hooks::report
