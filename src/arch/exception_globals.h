// The C++ exception state of a thread: the exceptions being handled and how many
// are in flight. The ABI keeps it per thread; we carry it with the goroutine, so
// that one may park inside a catch block or a destructor during unwinding.
//
// Note   the address is looked up once per thread and kept in the M, never across
//        a migration. Most switches find zeros on both sides and write nothing.
#pragma once

#include <cxxabi.h>

#include <cstdint>

#include "base/likely.h"

namespace vole::arch {

struct exception_globals {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  bool empty() const noexcept {
    return base::likely(caught == nullptr) && base::likely(uncaught == 0);
  }
};

inline exception_globals* this_thread_exceptions() noexcept {
  return reinterpret_cast<exception_globals*>(__cxxabiv1::__cxa_get_globals());
}

}  // namespace vole::arch
