#include "sync/waitable.h"

namespace vole {
inline namespace v0 {
namespace detail {

#ifdef VOLE_CHECKED
void destroyed_while_used(const waitable& s, const char* what) noexcept {
  if ((s.word.load(relaxed) & (kWaiting | kLocked)) == 0) return;
  fatal(
      sentence() << what
                 << ": destroyed while somebody waits for it. Whoever may still wait must be done "
                    "before it goes out of scope");
}
#else
void destroyed_while_used(const waitable&, const char*) noexcept {}
#endif

}  // namespace detail
}  // namespace v0
}  // namespace vole
