// The messages of a channel that is used wrongly.
//
// Who    the templates of include/vole, in user context: nothing is locked.

#include <exception>
#include <stdexcept>

#include <vole/chan.h>

#include "base/fatal.h"

namespace vole {
inline namespace v0 {
namespace detail {

void throw_closed_send() { throw channel_closed("vole::chan: send on a closed channel"); }
void throw_closed_close() { throw channel_closed("vole::chan: close of a closed channel"); }
void throw_nil_close() { throw std::logic_error("vole::chan: close of the nil channel"); }

void chan_move_threw() noexcept {
  base::sentence s;
  s << "chan: a value's move constructor has thrown";
  try {
    throw;
  } catch (const std::exception& e) {
    s << " (" << e.what() << ")";
  } catch (...) {
  }
  s << ". What travels through a channel must not throw on its way";
  base::fatal(s);
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
