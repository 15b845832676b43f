// The last words of the program: for a stack overflow, an exception that leaves a
// goroutine, a broken invariant.
//
// Who    boot installs and uninstalls. The fault hook runs in signal context, on
//        the thread's alternate stack.
// Law    every death has a sentence that names the goroutine, where it was created
//        and, where there is one, what to do about it. Once it has begun, the program does not
//        end otherwise: base/fatal.h, wait_if_dying.
// Note   where run() and spawn() hand an exception on, the stack of the throw is gone before anybody
//        knows that no handler exists; thrown.h has kept its addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vole::rt::crash {

void install() noexcept;
void uninstall() noexcept;

// Where an exception comes from that somebody else has got. id 0: not known.
struct origin {
  std::uint64_t id = 0;
  const void* created_at = nullptr;
  std::string_view name;
  const std::uintptr_t* frames = nullptr;  // of the throw
  std::size_t n = 0;
};
origin this_origin() noexcept;  // on a goroutine

// In a handler, before std::terminate(): it was thrown there, and our join_handle had it.
void tell_uncollected(const origin& by) noexcept;

// Around the rethrow of an exception that has left the main goroutine: if it has no handler, the last
// words say where it comes from. Nothing is unwound then; so if end_rethrow() is reached, it has one.
void begin_rethrow(const origin& by) noexcept;
void end_rethrow() noexcept;

}  // namespace vole::rt::crash
