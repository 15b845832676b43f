// A program that was started and has no handle yet: its process, and our ends of its pipes.
//
// Who    run.cc, child.cc. User context.
// Law    a `launched` lies in a belonging, so that the end of the runtime loses neither descriptors
//        nor the process: one that has not been reaped is killed and put on the list of unreaped ones.
// Law    each start of a program reaps the unreaped ones that have ended: only those that died since
//        are zombies.
#pragma once

#include <sys/types.h>

#include <string>

#include <vole/process.h>

#include "net/endpoint.h"
#include "net/errors.h"

namespace vole {
inline namespace v0 {
namespace detail {

struct launched {
  launched() noexcept = default;
  launched(const launched&) = delete;
  launched& operator=(const launched&) = delete;
  ~launched();

  pid_t pid = -1;  // -1: none, or reaped
  bool own_group = false;
  owned_fd pidfd{-1};  // empty: this kernel has none
  owned_fd in{-1}, out{-1}, err{-1};
};

// On failure nothing runs.
void launch(const process::command& c, const process::options& o, launched& into, failure& f);

// "run git"; the command may be empty.
std::string named_command(const char* what, const process::command& c);

// Nobody will wait for this process: the next start of a program reaps it if it has ended.
void leave_unreaped(pid_t pid) noexcept;
void reap_left() noexcept;

// For tests: as if the kernel had no pidfds.
void pretend_no_pidfd(bool yes) noexcept;

}  // namespace detail
}  // namespace v0
}  // namespace vole
