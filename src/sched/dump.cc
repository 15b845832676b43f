#include "sched/dump.h"

#include "os/os.h"
#include "sched/state.h"

extern "C" {
// The linker's own marks of the program's image; absent in some link modes.
[[gnu::weak]] extern const char __executable_start;
[[gnu::weak]] extern const char etext;
}

namespace vole::rt::dump {
namespace {

void put_wait(sentence& s, const G& g) noexcept {
  const std::string_view why = name_of(g.why.load(relaxed));
  if (status_of(g) != g_status::waiting || why.empty()) return;
  s << ", " << why;
  const std::int64_t ns = os::now_ns() - g.waiting_since.load(relaxed);
  if (ns >= 1000 * 1000 * 1000) {
    s << ", " << ns / (1000 * 1000 * 1000) << " s";
  } else if (ns >= 1000 * 1000) {
    s << ", " << ns / (1000 * 1000) << " ms";
  }
}

}  // namespace

void put_address(sentence& s, const void* pc) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(pc);
  const auto from = reinterpret_cast<std::uintptr_t>(&__executable_start);
  const auto to = reinterpret_cast<std::uintptr_t>(&etext);
  if (from != 0 && at >= from && at < to) {
    s << "program+";
    s.hex(at - from);
  } else {
    s.hex(at);
  }
}

void put_call_site(sentence& s, const void* return_address) noexcept {
  put_address(s, static_cast<const char*>(return_address) - 1);
}

void put_goroutine(sentence& s, const G& g) noexcept {
  s << "goroutine " << g.id;
  if (g.name != nullptr) s << " (" << static_cast<const char*>(g.name->text) << ")";
}

void one(const G& g, sink out, void* arg) noexcept {
  sentence s;
  put_goroutine(s, g);
  s << " [" << name_of(status_of(g));
  put_wait(s, g);
  if (g.locked_m != nullptr) s << ", locked to thread";
  s << "]:\n  runs ";
  put_address(s, reinterpret_cast<const void*>(g.invoke));
  s << "\n  created by ";
  if (g.parent != 0) {
    s << "goroutine " << g.parent;
  } else {
    s << "a plain thread";
  }
  s << " at ";
  put_call_site(s, g.created_at);
  s << "\n\n";
  out(s.view(), arg);
}

void all(sink out, void* arg) noexcept {
  g_slab.for_each([&](const G* g) {
    const g_status s = status_of(*g);
    if (s != g_status::idle && s != g_status::dead) one(*g, out, arg);
  });
}

}  // namespace vole::rt::dump
