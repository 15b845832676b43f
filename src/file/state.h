// What a vole::file refers to: an open descriptor, and how it is best asked.
//
// Who    src/file.
// Law    it is a pollable that is never watched: of that it uses the locks and the references: the
//        last one out closes the descriptor. The lock of way::in is the position's, for reads and
//        writes alike.
// Law    whoever holds the lock or a reference while it is in blocking() has it as a belonging: if
//        the runtime ends meanwhile, it is given up.
// Note   one function for each operation (ops.h): another way to reach the disk, io_uring, has its
//        place there.
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
