// Makes the public headers use the checker's atomics, as base/atomic.h makes src.
//
// Public headers say std::atomic. Inside namespace vole, `std` is found here first, and
// so is its atomic; all other names are the standard's.
//
// Who    models of what is part of a public object; included before anything of vole's.
#pragma once

#include <atomic>

#include "base/atomic.h"

namespace vole::std {

using namespace ::std;
template <class T>
using atomic = base::atomic<T>;

}  // namespace vole::std
