// What every hooked call begins and ends with.
//
// Law    outside a goroutine's own user code (a plain thread, the runtime, a forked child) the call
//        is libc's own, at the price of one word that is read and one jump.
// Law    a hooked call is made of raw system calls, whose error is their result. errno is written
//        by give(), as the last thing, on the thread that the call was made from.
// Law    no flag of a descriptor is changed, and nothing is remembered about one that would make a
//        later call wrong (kind.h has guesses; a wrong one costs a system call).
// Where  user context, on a goroutine.
// Proof  tests/hooks/conformance.cc, hooked and bare
#pragma once

#include <cstdint>

#include <vole/detail/foreign.h>

#include "arch/thread_word.h"
#include "hooks/report.h"
#include "hooks/symbols.h"
#include "os/kernel_calls.h"

namespace vole::hooks {

namespace foreign = ::vole::detail::foreign;
namespace kernel = ::vole::os::kernel;

// errno of the calling thread: functions, since a compiler keeps its address otherwise.
int error_now() noexcept;
void set_error(int error) noexcept;

// Others run on this thread while we wait, and leave their errors behind.
class keeping_errno {
 public:
  keeping_errno() noexcept : error_(error_now()) {}
  ~keeping_errno() { set_error(error_); }
  keeping_errno(const keeping_errno&) = delete;
  keeping_errno& operator=(const keeping_errno&) = delete;

 private:
  const int error_;
};

struct caller {
  symbol which;
  const void* at;  // where the call returns to
};

// False: the bare call.
inline bool caught(symbol which) noexcept {
  if (arch::this_m() == nullptr) [[likely]]
    return false;
  if (!foreign::can_park()) return false;
  if (report::wanted) [[unlikely]]
    report::called(which);
  if (foreign::is_to_give_way()) [[unlikely]] {
    const keeping_errno mine;
    foreign::give_way();
  }
  return true;
}

// The result of a system call as libc gives it.
inline long give(long result) noexcept {
  if (result >= 0) [[likely]]
    return result;
  set_error(static_cast<int>(-result));
  return -1;
}

// The bare call, said to the scheduler. `call` returns the result or a negative errno value.
template <class Call>
long in_blocking(const caller& by, Call call) noexcept {
  report::blocked(by.which);
  const keeping_errno mine;
  const foreign::call_at_home said;
  return call();
}

// The same for a function of libc: errno is as it leaves it.
template <class Call>
auto libc_in_blocking(const caller& by, Call call) noexcept {
  report::blocked(by.which);
  int error = 0;
  const auto result = [&] {
    const foreign::call_at_home said;
    const auto r = call();
    error = error_now();
    return r;
  }();
  set_error(error);
  return result;
}

}  // namespace vole::hooks

#define VOLE_CALLER(name) \
  ::vole::hooks::caller { ::vole::hooks::symbol::name##_, __builtin_return_address(0) }
