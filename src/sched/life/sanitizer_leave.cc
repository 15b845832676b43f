// The store and the test with which a door leaves the runtime, in C++: where a
// sanitizer is built in, the doors call this instead of doing it themselves, so
// that the sanitizer sees the release, and that a goroutine comes after whoever has woken it.

#if defined(VOLE_SANITIZE_ADDRESS) || defined(VOLE_SANITIZE_THREAD)

#include "gmp/m.h"

extern "C" int vole_san_leave_rt(vole::rt::M* m) noexcept {
  m->curg->history.after_wait();
  return m->hot.leave() ? 1 : 0;
}

#endif
