// Lock order: in debug builds each thread remembers which ranks it holds and
// aborts when it takes one that is not higher than all of them.
//
// Who    base/lock.h, and code that builds a lock out of bits of its own.
// Note   a lock may be released by another goroutine than took it (after a switch), but
//        never by another thread; that is why the memory is per thread.
#pragma once

#include "base/lock_rank.h"

namespace vole::base::lock_order {

#ifdef VOLE_CHECKED
void taking(lock_rank r) noexcept;     // checks the order, then counts it as held
void took(lock_rank r) noexcept;       // by try_acquire: counts, checks nothing
void releasing(lock_rank r) noexcept;
bool holds_any() noexcept;
#else
inline void taking(lock_rank) noexcept {}
inline void took(lock_rank) noexcept {}
inline void releasing(lock_rank) noexcept {}
inline bool holds_any() noexcept { return false; }
#endif

}  // namespace vole::base::lock_order
