// The wish for a longer or shorter time slice: sched_setattr(2), sched_runtime of SCHED_OTHER.
//
// Note   everything else of the thread stays as it is: threads of another policy (real time, batch)
//        are left alone. Best effort: a kernel that knows no such wish ignores it. Threads that
//        this one makes meanwhile inherit it.

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "os/os.h"

namespace vole::os {
namespace {

struct attributes {  // the kernel's struct sched_attr, first version
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};
static_assert(sizeof(attributes) == 48);

}  // namespace

void prefer_slice(std::uint64_t thread_id, std::int64_t ns) noexcept {
  attributes a{};
  if (syscall(SYS_sched_getattr, thread_id, &a, sizeof(a), 0) != 0) return;
  if (a.policy != SCHED_OTHER) return;
  a.size = sizeof(a);
  a.runtime = static_cast<std::uint64_t>(ns);
  a.deadline = a.period = 0;
  syscall(SYS_sched_setattr, thread_id, &a, 0);
}

}  // namespace vole::os
