// The record behind a vole::file: an open descriptor, and the best way to read it.
//
// Who    src/file.
// Law    it is a pollable that is never watched, used for its locks and references: the last user
//        closes the descriptor. The lock of way::in guards the position, for reads and writes alike.
// Law    a goroutine that holds the lock or a reference during blocking() registers it as a belonging:
//        if the runtime ends meanwhile, it is given up.
// Note   each operation is one function (ops.h): another way to reach the disk, such as io_uring, would
//        have its place there.
#pragma once

#include "base/atomic.h"
#include "net/pollable.h"

namespace vole {
inline namespace v0 {
namespace detail {

class file_state final : public pollable {
 public:
  file_state(int fd, bool regular, bool append) noexcept
      : pollable(fd), is_regular(regular), appends(append) {}

  const bool is_regular;
  const bool appends;
  // The file system has not refused RWF_NOWAIT yet.
  atomic<bool> reads_at_once{true}, writes_at_once{true};
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
