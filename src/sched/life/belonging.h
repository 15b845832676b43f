// Things that the library owns in a goroutine's frame, so that they are not lost with the frame.
//
// A goroutine that waits when the runtime ends does not come back, and its frames are not
// unwound. A user's objects there are lost, by contract. The library's own (a descriptor
// that is being connected, the list of addresses to try) must be freed by the library.
//
// Who    net, file, process. On any thread, in user context. It is a local variable: the last one made
//        goes first.
// Where  the end of the runtime destroys the value (end.cc), on the thread that ends it, when no
//        runtime runs any more.
// Law    the destructor of T runs no user code and waits for nobody.
// Law    whenever the goroutine enters the runtime, the value is in order.
// Note   a plain thread is not abandoned: there it is just a value. A goroutine that is left on a
//        zombie keeps its belongings for ever.
// Proof  tests/regress/descriptors_of_abandoned_goroutines_test.cc
#pragma once

#include <memory>
#include <utility>

#include "gmp/g.h"
#include "sched/park.h"

namespace vole::rt {

template <class T>
class belonging : goroutine_locals {
 public:
  template <class... Args>
  explicit belonging(Args&&... args)
      : goroutine_locals{&end_abandoned, nullptr}, value_(std::forward<Args>(args)...) {
    if (owner_ == nullptr) return;
    under = owner_->wait.locals;
    owner_->wait.locals = this;
  }
  ~belonging() {
    if (owner_ != nullptr) owner_->wait.locals = under;
  }
  belonging(const belonging&) = delete;
  belonging& operator=(const belonging&) = delete;

  T& operator*() noexcept { return value_; }
  T* operator->() noexcept { return std::addressof(value_); }

 private:
  static void end_abandoned(goroutine_locals* self, bool) noexcept {
    std::destroy_at(std::addressof(static_cast<belonging*>(self)->value_));
  }

  G* const owner_ = this_goroutine();  // null: a plain thread
  T value_;
};

}  // namespace vole::rt
