// What a context has to do with std::stop_token, all of it that touches what those share with code of
// the user's.
//
// Law    under TSan this file is instrumented, as no other of the library is (cmake/races.cmake): the
//        atomics in which <stop_token> keeps its callbacks are half the user's, and TSan must see both
//        halves.

#include <utility>

#include "base/race.h"
#include "time/cancel.h"

namespace vole {
inline namespace v0 {
namespace detail {

cancel_node::~cancel_node() { asked.reset(); }  // waits for a callback that is running: first of all

void ask(cancel_node& n, std::stop_token token) {
  n.asked.emplace(std::move(token), cancel_node::on_stop{&n});
}

void stop(std::stop_source& source) { source.request_stop(); }

}  // namespace detail
}  // namespace v0
}  // namespace vole
