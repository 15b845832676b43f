// The calls that goroutines are in: return addresses, by the modules' own unwind tables.
//
// A goroutine is a thread to libdw, which asks for its registers and its stack. One that is parked
// needs two registers: sp, and pc = vole_land, whose table says where the others are.
//
// Who    dump.
// Law    reads nothing but the picture: the target may have gone on, or be a file.
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <vector>

#include "picture.h"
#include "target.h"

namespace vole_command::outside {

inline constexpr std::size_t kMostFrames = 100;  // as in the library's own dumps

// libdw's view of a target: its modules.
class session {
 public:
  explicit session(const target& t);  // refuses if libdw does
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  Dwfl* get() const { return dwfl_; }
  const target& of() const { return target_; }

 private:
  const target& target_;
  Dwfl* dwfl_ = nullptr;
};

// For each goroutine of the picture its return addresses, innermost first; that of a frame that was
// interrupted is one more than its pc, so that one less is always in the call.
std::vector<std::vector<std::uint64_t>> unwind_all(session& s, const picture& p,
                                                   const found_root& root);

}  // namespace vole_command::outside
