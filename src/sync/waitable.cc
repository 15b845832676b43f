#include "sync/waitable.h"

#include "os/os.h"
#include "sync/misuse.h"

namespace vole {
inline namespace v0 {
namespace detail {

// exit() destroys static objects while somebody waits on them: the waiters are lost in any case.
void destroyed_while_used(const waitable& s, const char* what) noexcept {
  if ((s.word.load(relaxed) & (kWaiting | kLocked)) == 0 || os::is_static(&s)) return;
  misused(what, "destroyed while somebody waits for it", &s,
          "End all waits before it goes out of scope");
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
