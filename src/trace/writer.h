// The thread that cuts generations and writes them, for as long as a session lasts.
//
// Who    session.cc, one caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vole::rt::trace::writer {

struct plan {
  int fd = -1;                 // -1: a ring
  std::int64_t window = 0;
};

// Begins a session: returns when the first generation has begun. 0 or errno.
int start(const plan& p) noexcept;

enum class order : std::uint32_t { none, cut, names, snapshot, end };
// `names`: the events so far are complete and named; nothing more is recorded until the next cut.
// Returns when that is done. 0 or errno.
int run(order what, const char* path = nullptr) noexcept;
void join() noexcept;  // after `end`

void in_forked_child() noexcept;  // it is not there any more

}  // namespace vole::rt::trace::writer
