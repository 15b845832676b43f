// The pipes through which io::copy moves what comes from a file.
//
// Who    net/splice.cc; the endpoint they belong to frees them.
// Law    a pipe in use belongs to one copy, which gives it back closed. A copy whose goroutine is
//        abandoned does not: then its pipe is closed with the endpoint.
#pragma once

#include "base/atomic.h"

namespace vole {
inline namespace v0 {
namespace detail {

class transit_pipes {
 public:
  struct pipe {
    pipe* next = nullptr;  // written before it is published
    base::atomic<bool> used{true};
    int out = -1, in = -1;  // the user's; what is written to `in` is read from `out`
  };

  transit_pipes() noexcept = default;
  transit_pipes(const transit_pipes&) = delete;
  transit_pipes& operator=(const transit_pipes&) = delete;
  ~transit_pipes();

  pipe* open() noexcept;  // empty; null: the system has none to give
  static void close(pipe* p) noexcept;

 private:
  pipe* take_record() noexcept;

  base::atomic<pipe*> first_{nullptr};
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
