// The scheduler's answers to traces: trace/house.h.

#include "sched/life/call.h"
#include "sched/run/lifecycle.h"
#include "sched/state.h"
#include "trace/emit.h"
#include "trace/house.h"

namespace vole::rt::trace {
namespace {

bool is_stopped() noexcept { return lifecycle::now() == lifecycle::phase::stopped; }
bool is_forked() noexcept { return lifecycle::now() == lifecycle::phase::forked; }

void each_m(void (*fn)(M& m, void* arg) noexcept, void* arg) noexcept {
  m_slab.for_each([&](M* m) {
    if (m->alive.load(acquire)) fn(*m, arg);
  });
}

void each_g(void (*fn)(const G& g, void* arg) noexcept, void* arg) noexcept {
  g_slab.for_each([&](const G* g) { fn(*g, arg); });
}

// Births are under the same lock, and look at is_on(). A visit: the records stay where they are.
void flag_all(bool on) noexcept {
  while (!lifecycle::visit()) {
    if (is_stopped()) return;
    os::yield_thread();
  }
  sched.lock.acquire();
  each_m([](M& m, void* flagged) noexcept { flag(m, *static_cast<bool*>(flagged)); }, &on);
  sched.lock.release();
  lifecycle::end_visit();
}

std::uint32_t procs() noexcept { return sched.procs.load(relaxed); }
bool in_call(const M& m) noexcept { return is_in_call(m); }

}  // namespace

constinit const house the_house{&lifecycle::visit, &lifecycle::end_visit, &is_stopped, &is_forked,
                                &flag_all,         &each_m,               &each_g,     &in_call,
                                &procs};

}  // namespace vole::rt::trace
