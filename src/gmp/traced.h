// What a thread needs in order to write events of a trace (trace/emit.h).
//
// Who    its owner: the M while inside the runtime; for thread 0 the holder of trace::shared's lock.
// Law    `buffer` is the chunk that at, end and the counts are about, or null. The thread that
//        exchanges it for null submits it: that is the owner, or the writer once the owner has
//        passed into a later generation (trace/advance.h). `stamp` is stored after the buffer of
//        the generation before was submitted.
#pragma once

#include <cstdint>

#include "base/atomic.h"

namespace vole::rt::trace {
struct chunk_header;
struct dictionary;
}  // namespace vole::rt::trace

namespace vole::rt {

using namespace base;

struct traced {
  atomic<std::uint32_t> stamp{0};              // the generation that it writes in
  std::uint32_t number = 0;                    // the thread's, as its chunks say
  std::uint32_t chunks = 0;                    // that it has begun in this generation
  std::uint8_t* at = nullptr;                  // null: it writes nothing
  std::uint8_t* end = nullptr;
  atomic<trace::chunk_header*> buffer{nullptr};
  std::uint64_t last_ticks = 0;                // of the last event
  std::int64_t skew = 0;                       // a test's: added to the clock
  std::uint64_t last_g = 0;                    // the last goroutine that was named in this chunk
  std::uint64_t woken_g = 0;                   // that of the last unblock in this chunk; 0: none
  std::uint32_t woken_seq = 0;
  std::uint32_t last_seq = 0;                  // the last number of a goroutine's in this chunk
  std::uint32_t events = 0;                    // in this chunk
  std::uint64_t before = 0;                    // in earlier chunks of this generation
  trace::dictionary* defined = nullptr;          // places and strings, and their numbers
  bool in_call = false;                        // its last call_begin has no call_end yet
  bool captured = false;                        // its goroutine was stopped with it: strict mode

  std::uint64_t events_so_far() const noexcept { return before + events; }
};

}  // namespace vole::rt
