// Asks a program at its control socket (VOLE_DEBUG=control=1).
//
// Law    a socket is asked only if it belongs to the user whose process it should be. One that
//        nobody listens at is removed.
// Proof  tests/tools/control_test.py
#pragma once

#include <sys/types.h>

#include <string>

namespace vole_command {

// The answer, without its "ok" line. `file`: a descriptor to pass along, or -1. Throws refusal: if
// there is no socket, or with the sentence of an answer that is an error. `patience`: seconds to
// wait for the answer.
std::string ask_program(pid_t process, const std::string& request, int file, int patience);

}  // namespace vole_command
