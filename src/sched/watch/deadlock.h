// Deadlock [34]: nobody can ever run again.
//
// Who    sysmon, when every P is idle and before it sleeps for long.
// Law    never a false alarm. It is fatal only inside run(), and only if: no timer is
//        pending or being fired; every M sleeps; nothing is queued; nothing was
//        started while we looked; main has begun and not finished; and every kernel thread of
//        the process is the runtime's own. Any other thread could still send.
// Note   goroutines in user code without a P, or blocked in the kernel, keep their M
//        awake: they count as running.
#pragma once

namespace vole::rt::deadlock {

enum class answer {
  none,       // nothing will change by itself: sleep as long as you like
  unsettled,  // some M is not asleep yet, though every P is idle: look again soon
  others,     // the program's own threads are all that is left: look again when they may be gone
};

// Does not return if it is one.
answer look() noexcept;

}  // namespace vole::rt::deadlock
