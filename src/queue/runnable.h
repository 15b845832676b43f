// The element of a run queue: a link and a kind.
//
// Law    a runnable is in at most one queue; `next` belongs to that queue, and to
//        nobody while it is in a ring or a crate (those hold pointers).
// Note   today every runnable is a G. Coroutine handles and timer callbacks will
//        stand in the same queues.
#pragma once

#include <cstdint>

namespace vole::rt {

enum class runnable_kind : std::uint8_t { goroutine };

struct runnable {
  runnable* next = nullptr;
  runnable_kind kind = runnable_kind::goroutine;
};

}  // namespace vole::rt
