// A picture in words: goroutines that do the same are one block with a count.
//
// Who    dump.cc, about this program; the `vole` command, about another one. So both say the same.
// Where  no stdio. No malloc in a signal handler (`plain`); elsewhere names take some.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sched/report/captured.h"
#include "sched/report/frames.h"

namespace vole::rt::dump {

struct manner {
  bool plain = false;       // in a signal handler: names stay as the linker knows them
  bool all_frames = false;  // vole's own, too
  bool by_age = false;      // those that have waited longest first
};

// First the circles of goroutines that wait for each other, then every block, the caller's first. Sorts
// the picture.
void write_blocks(captured_set& c, manner how, text_sink out, void* arg) noexcept;

// One goroutine, with this stack; what needs a whole picture is left out.
void put_one(const captured& c, const std::uintptr_t* frames, std::size_t n, manner how,
             text_sink out, void* arg) noexcept;
// Its stack and who made it.
void put_body(const captured& c, const std::uintptr_t* frames, std::size_t n, frame_texts& names,
              text_sink out, void* arg) noexcept;

}  // namespace vole::rt::dump
