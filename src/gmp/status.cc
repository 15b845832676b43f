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
        bit(g_status::preempted) | bit(g_status::evicted),
    /* syscall   */ 0,
    /* waiting   */ bit(g_status::runnable),
    /* dead      */ bit(g_status::idle),
    /* preempted */ bit(g_status::running) | bit(g_status::evicted),
    /* evicted   */ bit(g_status::running) | bit(g_status::runnable) | bit(g_status::preempted),
};

}  // namespace

std::string_view name_of(g_status s) noexcept { return kNames[static_cast<unsigned>(s)]; }

void check_status(const G& g, g_status from, g_status to) noexcept {
  const g_status is = g.status.get();
  if (is == from && (kMayBecome[static_cast<unsigned>(from)] & bit(to)) != 0) return;
  fatal(sentence() << "status: goroutine " << g.id << " is " << name_of(is) << ", cannot go from "
                   << name_of(from) << " to " << name_of(to));
}

}  // namespace vole::rt
