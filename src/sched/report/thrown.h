// The stack of a throw, for exceptions that spawn(), groups and run() hand on. They have to catch
// them, and catching unwinds the stack before anybody knows that nobody wants the exception.
//
// So their functions have one more handler, for a type that nobody throws, throw_probe. An exception
// that looks for its handler asks each type whether it is the one, before anything is unwound, and
// the answer of this type's (type_info::__do_catch) is "no" each time, after a look at the stack.
//
//     the search, on the whole stack: __do_catch      the handler: this_thrower()
//     stacks[goroutine] = return addresses            takes them from there
//
// Who    spawn(), group and run(), on the goroutine that an exception leaves.
// Law    a goroutine has one such handler, at its very end, so between a search that gets there and
//        the handler no other search of the goroutine gets there. The destructors in between may
//        change threads, and join goroutines whose exceptions they catch.
// Note   entries are found by the goroutine's id. Two goroutines whose ids share an entry: the first
//        one has it, the other's stack is not told.
// Note   with another C++ library than gcc's types are not asked in this way, and no stack is told.
// Proof  tests/crash/panic_test.cc
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

namespace vole::rt::thrown {

void install() noexcept;  // before a goroutine runs

// The stack of the exception that this goroutine has caught at its end. Returns how many.
std::size_t take(std::uintptr_t* out, std::size_t most) noexcept;

// This goroutine is about to throw on an exception that came with this stack: that is the one to tell.
// If it does not get to the goroutine's end, nothing happens.
void hand_on(const std::exception_ptr& error, const std::uintptr_t* frames, std::size_t n) noexcept;

}  // namespace vole::rt::thrown
