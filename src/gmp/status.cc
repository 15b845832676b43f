#include "gmp/status.h"

#include "base/fatal.h"
#include "gmp/g.h"

namespace vole::rt {
namespace {

constexpr std::string_view kNames[] = {"idle",    "runnable", "running",   "syscall",
                                       "waiting", "dead",     "preempted", "evicted"};

constexpr unsigned bit(g_status s) { return 1u << static_cast<unsigned>(s); }

// kMayBecome[from]: the set of statuses that may follow.
constexpr unsigned kMayBecome[] = {
    /* idle      */ bit(g_status::runnable) | bit(g_status::dead),
    /* runnable  */ bit(g_status::running),
    /* running   */ bit(g_status::runnable) | bit(g_status::waiting) | bit(g_status::dead) |
        bit(g_status::syscall) | bit(g_status::preempted) | bit(g_status::evicted),
    /* syscall   */ bit(g_status::running) | bit(g_status::runnable),
    /* waiting   */ bit(g_status::runnable),
    /* dead      */ bit(g_status::idle),
    /* preempted */ bit(g_status::runnable),
    /* evicted   */ bit(g_status::running) | bit(g_status::runnable),
};

}  // namespace

std::string_view name_of(g_status s) noexcept { return kNames[static_cast<unsigned>(s)]; }

g_status status_of(const G& g) noexcept { return g.status.load(std::memory_order_acquire); }

void set_status(G& g, g_status from, g_status to) noexcept {
#ifdef VOLE_CHECKED
  const g_status is = g.status.load(relaxed);
  if (is != from || (kMayBecome[static_cast<unsigned>(from)] & bit(to)) == 0) {
    fatal(sentence() << "status: goroutine " << g.id << " is " << name_of(is) << ", cannot go from "
                     << name_of(from) << " to " << name_of(to));
  }
#else
  static_cast<void>(from);
  static_cast<void>(kMayBecome);
#endif
  g.status.store(to, std::memory_order_release);
}

void bury(G& g) noexcept { g.status.store(g_status::dead, std::memory_order_release); }

}  // namespace vole::rt
