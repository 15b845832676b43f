// What the program says when it dies: stack overflow, an exception that leaves a
// goroutine, a broken invariant.
//
// Who    boot installs and uninstalls. The fault hook runs in signal context, on
//        the thread's alternate stack.
// Law    every death has a sentence that names the goroutine, where it was created
//        and, where there is one, what to do about it.
#pragma once

namespace vole::rt::crash {

void install() noexcept;
void uninstall() noexcept;

}  // namespace vole::rt::crash
