// close, dup2, dup3, close_range: the bare calls; who waits for a descriptor that is closed is woken.
//
// Where  any thread, since a goroutine may wait for what a plain thread closes.

#include <cerrno>

#include "hooks/call.h"
#include "hooks/kind.h"

namespace vole::hooks {
namespace {

// Counted only on a goroutine; the call is the bare one everywhere.
void note(symbol which) noexcept {
  if (report::wanted && arch::this_m() != nullptr) report::called(which);
}

template <class Bare>
int closing(unsigned first, unsigned last, Bare bare_call) noexcept {
  int error = error_now();
  const int result = [&] {
    foreign::closing c(first, last);
    const int r = bare_call();
    if (r < 0) error = error_now();  // others may run here while sleepers are woken
    const unsigned end = last < kGuesses ? last : kGuesses - 1;
    for (unsigned fd = first; fd <= end; ++fd) remember(static_cast<int>(fd), kind::unknown);
    if (r >= 0) c.done();
    return r;
  }();
  set_error(error);
  return result;
}

}  // namespace
}  // namespace vole::hooks

using namespace vole::hooks;

extern "C" {

int close(int fd) {
  note(symbol::close_);
  if (fd < 0) return bare().close(fd);
  const auto n = static_cast<unsigned>(fd);
  return closing(n, n, [=] { return bare().close(fd); });
}

int dup2(int from, int to) noexcept {
  note(symbol::dup2_);
  if (to < 0 || from == to) return bare().dup2(from, to);
  const auto n = static_cast<unsigned>(to);
  return closing(n, n, [=] { return bare().dup2(from, to); });
}

int dup3(int from, int to, int flags) noexcept {
  note(symbol::dup3_);
  if (to < 0 || from == to) return bare().dup3(from, to, flags);
  const auto n = static_cast<unsigned>(to);
  return closing(n, n, [=] { return bare().dup3(from, to, flags); });
}

int close_range(unsigned first, unsigned last, int flags) noexcept {
  note(symbol::close_range_);
  constexpr int kOnExec = 4;  // CLOSE_RANGE_CLOEXEC: nothing is closed now
  if (first > last || (flags & kOnExec) != 0) return bare().close_range(first, last, flags);
  return closing(first, last, [=] { return bare().close_range(first, last, flags); });
}

}  // extern "C"
