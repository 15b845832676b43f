// Every goroutine in words: status, what it waits for and how long, the calls it is in, who made it
// and where. Goroutines that do the same are one block with a count.
//
// Who    dump_goroutines, after the world runs again: from a picture (capture.h). fatal() and
//        panics, on the dying thread.
// Where  no stdio. No malloc in a signal handler (`plain`); elsewhere names take some.
#pragma once

#include <cstddef>

#include "base/fatal.h"
#include "gmp/g.h"
#include "sched/report/capture.h"
#include "sched/report/frames.h"

namespace vole::rt::dump {

using sink = text_sink;

// Writes the picture, grouped, the caller first. Sorts the picture.
void write(capture& c, bool plain, sink out, void* arg) noexcept;
// Takes a picture of the records as they are now, and writes it. `own`: the caller's stack; null: as it
// is here.
void all(bool plain, const own_stack* own, sink out, void* arg) noexcept;
// Writes one goroutine. `own` is its stack if it is the caller; null: no stack is shown.
void one(const G& g, const own_stack* own, bool plain, sink out, void* arg) noexcept;

// VOLE_DEBUG=frames=all.
bool shows_all_frames() noexcept;
// Writes its stack and its creator, without the head line.
void body(const captured& c, const own_stack& stack, sink out, void* arg) noexcept;
// Prints to stderr which goroutines were left when the runtime ended, those that have waited longest
// first. Prints nothing if there were none. Sorts the picture; user context, outside.
void leaks(capture& c) noexcept;

// "program+0x1234", which addr2line understands.
void put_address(base::sentence& s, const void* pc) noexcept;
// "goroutine 7 (name)"
void put_goroutine(base::sentence& s, const G& g) noexcept;

}  // namespace vole::rt::dump
