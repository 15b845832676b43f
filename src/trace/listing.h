// The listing of a generation: every goroutine and every thread there is.
//
// Who    the writer, during a visit, right after the generation has begun.
// Law    a goroutine or thread without an event in this generation does not change while it is read.
//        For all others the listing may describe any moment of it, except that origin and name are
//        right: those belong to the id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vole::rt::trace {

// Calls fn(payload) for each part, about `most` bytes long.
void make_listing(std::size_t most, void (*fn)(const std::string& payload, void* arg), void* arg);

}  // namespace vole::rt::trace
