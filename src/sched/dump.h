// Every goroutine, one paragraph each: status, why and how long it waits, who made
// it and where.
//
// Who    fatal(), from anywhere: reads the records as they are. dump_goroutines,
//        with the world stopped: a consistent picture.
// Where  signal-safe: no malloc, no stdio.
#pragma once

#include <cstddef>

#include "base/fatal.h"
#include "gmp/g.h"

namespace vole::rt::dump {

using sink = void (*)(std::string_view text, void* arg) noexcept;

void all(sink out, void* arg) noexcept;
void one(const G& g, sink out, void* arg) noexcept;

// "program+0x1234", which addr2line understands; plain hexadecimal for other modules.
void put_address(base::sentence& s, const void* pc) noexcept;
// The call that returns there.
void put_call_site(base::sentence& s, const void* return_address) noexcept;
// "goroutine 7 (name)"
void put_goroutine(base::sentence& s, const G& g) noexcept;

}  // namespace vole::rt::dump
