// Copies of the runtime's records: Gs, Ms, Ps and the scheduler's own.
//
// Who    picture.cc, top.cc; core_fuzz.cc.
// Law    nothing that the target says is believed beyond a bound: chunks are few, of a size, and
//        do not lead in a circle.
#pragma once

#include <cstring>
#include <vector>

#include "memory.h"
#include "root_reader.h"

namespace vole_command::outside {

template <class T>
T field(const char* record, std::uint64_t offset) {
  T t;
  std::memcpy(&t, record + offset, sizeof t);
  return t;
}

// Memory for copies. What was taken stays where it is. Made ready before a pause, it causes no
// page fault then.
class arena {
 public:
  arena() = default;
  ~arena();
  arena(arena&& other) noexcept { *this = static_cast<arena&&>(other); }
  arena& operator=(arena&& other) noexcept;

  void make_ready(std::size_t bytes);  // to be had without a page fault
  char* take(std::size_t bytes);       // throws std::bad_alloc
  std::size_t used() const { return used_; }

 private:
  struct block {
    char* at;
    std::size_t size, used;
  };
  void add_block(std::size_t bytes, bool populate);
  std::vector<block> blocks_;
  std::size_t used_ = 0;
};

struct record {
  std::uint64_t at;  // where it is in the target
  const char* copy;
};

struct record_set {
  arena memory;
  std::vector<record> all;
};

// All records of a slab, as far as it can be read. `bytes`: the least that one must have.
void read_slab(const memory& mem, const vole::root::slab_places& where, std::uint64_t slab,
               std::uint32_t bytes, record_set* to);

struct scheduler_copy {
  std::vector<char> sched;  // empty: cannot be read
  std::vector<char> ps;     // records of the Ps, one behind the other
  std::vector<std::uint64_t> p_at;
};
void read_scheduler(const memory& mem, const vole::root::table& t, scheduler_copy* to);

}  // namespace vole_command::outside
