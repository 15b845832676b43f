#include "gmp/status.h"

#include "base/fatal.h"
#include "gmp/g.h"
#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {
namespace {

constexpr std::string_view kNames[] = {"idle",    "runnable", "running",   "syscall",
                                       "waiting", "dead",     "preempted", "evicted"};

constexpr std::string_view kNamesOfP[] = {"idle", "running", "stopped", "dead"};
constexpr std::string_view kNamesOfM[] = {"free", "awake", "idle", "polling"};

constexpr unsigned bit(auto s) { return 1u << static_cast<unsigned>(s); }

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

// The same for a P: stopped ones are handed out again, one by one; those that are too many die.
constexpr unsigned kPMayBecome[] = {
    /* idle    */ bit(p_status::running) | bit(p_status::stopped),
    /* running */ bit(p_status::running) | bit(p_status::idle) | bit(p_status::stopped),
    /* stopped */ bit(p_status::running) | bit(p_status::idle) | bit(p_status::dead),
    /* dead    */ bit(p_status::stopped),
};

// And for an M. A locked one may be woken before it has called itself idle.
constexpr unsigned kMMayBecome[] = {
    /* free    */ bit(m_status::awake),
    /* awake   */ bit(m_status::awake) | bit(m_status::idle) | bit(m_status::polling) |
        bit(m_status::free),
    /* idle    */ bit(m_status::awake),
    /* polling */ bit(m_status::awake),
};

m_status status_of(const M& m) noexcept {
  if (!m.alive.load(relaxed)) return m_status::free;
  if (m.idle.load(relaxed)) return m_status::idle;
  return m.polling.load(relaxed) ? m_status::polling : m_status::awake;
}

}  // namespace

std::string_view name_of(g_status s) noexcept { return kNames[static_cast<unsigned>(s)]; }
std::string_view name_of(p_status s) noexcept { return kNamesOfP[static_cast<unsigned>(s)]; }
std::string_view name_of(m_status s) noexcept { return kNamesOfM[static_cast<unsigned>(s)]; }

void check_status(const G& g, g_status from, g_status to) noexcept {
  const g_status is = g.status.get();
  if (is == from && (kMayBecome[static_cast<unsigned>(from)] & bit(to)) != 0) return;
  broken(sentence() << "status: goroutine " << g.id << " is " << name_of(is) << ", cannot go from "
                    << name_of(from) << " to " << name_of(to));
}

void check_status(const P& p, p_status to) noexcept {
  const p_status is = p.status.load(relaxed);
  if ((kPMayBecome[static_cast<unsigned>(is)] & bit(to)) != 0) return;
  broken(sentence() << "status: P " << p.id << " cannot go from " << name_of(is) << " to "
                    << name_of(to));
}

void check_status(const M& m, m_status to) noexcept {
  const m_status is = status_of(m);
  if ((kMMayBecome[static_cast<unsigned>(is)] & bit(to)) != 0) return;
  broken(sentence() << "status: thread " << m.id << " cannot go from " << name_of(is) << " to "
                    << name_of(to));
}

}  // namespace vole::rt
