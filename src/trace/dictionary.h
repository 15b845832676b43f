// The places and strings that a thread has defined in this generation, by their numbers; and a cache
// of what it knows about program counters.
//
// Who    the owner of the `traced` it belongs to.
// Note   an entry that another one displaces is defined again when it comes back: a second number for
//        the same thing, which the format allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/caller.h"
#include "gmp/g.h"
#include "gmp/traced.h"
#include "walk/walk.h"

namespace vole::rt::trace {

inline constexpr std::size_t kMostPlaces = 32;  // program counters of one place

struct dictionary {
  static constexpr std::size_t kSites = 256, kStrings = 64, kCodes = 128;

  struct entry {
    std::uint64_t key;
    std::uint32_t stamp, number;
  };
  struct code {
    std::uintptr_t pc;
    std::uint64_t own;  // own_code
  };
  entry sites[kSites];
  entry strings[kStrings];
  code codes[kCodes];
  std::uint32_t n_sites, n_strings;
  dictionary* next;          // the free ones
  walk::row_cache* rows;   // null: not needed yet
};

dictionary* take_dictionary() noexcept;  // zeroed or used; null: no memory
void put_dictionary(dictionary* n) noexcept;
void reset_dictionaries_lock() noexcept;  // a forked child

// The number of that key in this generation; 0: to be defined, and `*slot` is where to say so.
inline std::uint32_t number_of(dictionary::entry* table, std::size_t size, std::uint64_t key,
                               std::uint32_t stamp, dictionary::entry** slot) noexcept {
  dictionary::entry& e = table[(key * 0x9e3779b97f4a7c15u >> 32) % size];
  *slot = &e;
  return e.key == key && e.stamp == stamp ? e.number : 0;
}

// ── whose code ──
enum class own_code : std::uint8_t {
  no = 1,
  compiled,      // part of the library: has frame records
  instantiated,  // vole's by name, but compiled into the program: an inline function, a template
};

// Where vole's functions are. User context; once, before the first trace.
void learn_own_code() noexcept;

// The places outside vole that the goroutine stands at, the innermost first: of one that departs with
// this stack pointer, or of a caller of vole's. At most `most`; 0: not known.
std::size_t places_of(dictionary& n, const G& g, const void* sp, std::uintptr_t* out,
                      std::size_t most) noexcept;
std::uintptr_t caller_outside(dictionary& n, const G& g, arch::frame from) noexcept;

// ── program counters that want names ── any thread; the writer reads
void remember_pc(std::uintptr_t pc, bool is_function) noexcept;

}  // namespace vole::rt::trace
