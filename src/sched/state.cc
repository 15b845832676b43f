#include "sched/state.h"

namespace vole::rt {

constinit sched_state sched;
constinit slab<G> g_slab;
constinit slab<M> m_slab;
constinit slab<P> p_slab;
constinit slab<g_name> name_slab;
constinit base::presence presences[kMaxProcs];

}  // namespace vole::rt
