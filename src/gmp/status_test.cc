// A goroutine's status: the legal ways, and in checked builds a death for each other.

#include "gmp/status.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "gmp/g.h"
#include "gmp/m.h"
#include "gmp/p.h"

namespace vole::rt {
namespace {

using enum g_status;

const std::vector<std::pair<g_status, g_status>> kLegal = {
    {idle, runnable},    {idle, dead},        {runnable, running},  {running, runnable},
    {running, waiting},  {running, dead},     {running, preempted}, {running, evicted},
    {waiting, runnable}, {dead, idle},        {preempted, running}, {preempted, evicted},
    {evicted, running},  {evicted, runnable}, {evicted, preempted}};

// Takes a fresh G there by legal steps.
void lead_to(G& g, g_status goal) {
  if (goal == idle) return;
  if (goal == dead) return set_status(g, idle, dead);
  set_status(g, idle, runnable);
  if (goal == runnable) return;
  set_status(g, runnable, running);
  if (goal != running) set_status(g, running, goal);
}

TEST(Status, FollowsTheTable) {  // [1]
  for (const auto& [from, to] : kLegal) {
    G g;
    lead_to(g, from);
    set_status(g, from, to);
    EXPECT_EQ(status_of(g), to);
  }
}

// Records come from zeroed pages and are used as they are.
TEST(Status, FreshGIsAllZeroes) {
  alignas(G) std::byte memory[sizeof(G)] = {};
  const G* const g = ::new (static_cast<void*>(memory)) G;
  EXPECT_EQ(status_of(*g), idle);
  for (const std::byte b : memory) EXPECT_EQ(b, std::byte{0});
}

TEST(Status, HasAName) {
  EXPECT_EQ(name_of(idle), "idle");
  EXPECT_EQ(name_of(waiting), "waiting");
  EXPECT_EQ(name_of(evicted), "evicted");
  EXPECT_EQ(name_of(wait_reason::wait_group), "wait group");
}

TEST(StatusOfAP, FollowsTheTable) {
  P p;
  for (const p_status next :
       {p_status::running, p_status::running, p_status::idle, p_status::stopped, p_status::running,
        p_status::stopped, p_status::idle, p_status::stopped, p_status::dead, p_status::stopped}) {
    set_status(p, next);
    EXPECT_EQ(p.status.load(relaxed), next);
  }
}

TEST(StatusOfAnM, IsThreeWords) {
  const auto m = std::make_unique<M>();
  EXPECT_FALSE(m->alive.load(relaxed));
  set_status(*m, m_status::awake);
  EXPECT_TRUE(m->alive.load(relaxed));
  set_status(*m, m_status::idle);
  EXPECT_TRUE(m->alive.load(relaxed) && m->idle.load(relaxed) && !m->polling.load(relaxed));
  set_status(*m, m_status::awake);
  set_status(*m, m_status::polling);
  EXPECT_TRUE(m->alive.load(relaxed) && !m->idle.load(relaxed) && m->polling.load(relaxed));
  set_status(*m, m_status::awake);
  set_status(*m, m_status::free);
  EXPECT_FALSE(m->alive.load(relaxed) || m->idle.load(relaxed) || m->polling.load(relaxed));
}

// Only checked builds look; the others must not pay for it.
#ifdef VOLE_CHECKED
void change(g_status is, g_status from, g_status to) {
  G g;
  g.id = 42;
  lead_to(g, is);
  set_status(g, from, to);
}

TEST(StatusDeathTest, IllegalTransitionAborts) {
  EXPECT_DEATH(change(waiting, waiting, running),
               "status: goroutine 42 is waiting, cannot go from waiting to running");
  EXPECT_DEATH(change(dead, dead, runnable), "from dead to runnable");
  EXPECT_DEATH(change(runnable, runnable, waiting), "from runnable to waiting");
  EXPECT_DEATH(change(runnable, runnable, runnable), "from runnable to runnable");
  EXPECT_DEATH(change(running, running, syscall), "from running to syscall") << "that is derived";
}

TEST(StatusDeathTest, IllegalTransitionOfAPAborts) {
  P p;
  p.id = 3;
  EXPECT_DEATH(set_status(p, p_status::dead), "status: P 3 cannot go from idle to dead");
  set_status(p, p_status::running);
  EXPECT_DEATH(set_status(p, p_status::dead), "from running to dead");
}

TEST(StatusDeathTest, IllegalTransitionOfAnMAborts) {
  const auto m = std::make_unique<M>();
  EXPECT_DEATH(set_status(*m, m_status::idle), "status: thread 0 cannot go from free to idle");
  set_status(*m, m_status::awake);
  set_status(*m, m_status::idle);
  EXPECT_DEATH(set_status(*m, m_status::polling), "from idle to polling");
}

TEST(StatusDeathTest, AnotherStatusThanTheCallerThinksAborts) {
  EXPECT_DEATH(change(dead, running, waiting), "goroutine 42 is dead, cannot go from running");
}
#endif

}  // namespace
}  // namespace vole::rt
