// Debug information (.debug_info) as a tree of entries, as far as names of functions need it: DWARF
// 2 to 5, of one file.
//
// Who    scopes.cc.
// Where  anywhere: takes no memory and no lock.
// Law    never reads past the sections, and every reader ends: a sibling lies behind, and the number
//        of entries that are read is bounded by the size of the section. What cannot be understood
//        is not there.
// Proof  tests/tools/scopes_fuzz.cc
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "walk/bytes.h"

namespace vole::symbols {

// As they are in the file; an empty one is missing.
struct debug_sections {
  std::string_view info, abbreviations, strings, line_strings;
  std::string_view ranges;       // .debug_ranges, up to DWARF 4
  std::string_view range_lists;  // .debug_rnglists
};

enum : unsigned {  // DW_TAG_*
  kClassType = 0x02,
  kLexicalBlock = 0x0b,
  kStructureType = 0x13,
  kUnionType = 0x17,
  kInlinedSubroutine = 0x1d,
  kModule = 0x1e,
  kSubprogram = 0x2e,
  kNamespace = 0x39,
};

// Places are offsets in .debug_info. 0: none.
struct die {
  std::uint64_t at = 0, behind = 0;  // behind: its first child, or what follows it
  std::uint64_t sibling = 0;
  unsigned tag = 0;  // 0: the end of a list of children
  bool has_children = false;
  bool has_low = false, has_high = false, has_ranges = false;
  std::string_view name;
  std::uint64_t low = 0, high = 0, ranges = 0;
  std::uint64_t origin = 0, specification = 0;
  std::uint64_t line = 0, column = 0;

  bool is_class() const noexcept {
    return tag == kClassType || tag == kStructureType || tag == kUnionType;
  }
};

class dies {
 public:
  explicit dies(const debug_sections& s) noexcept : s_(s), left_(s.info.size() * 4 + 1024) {}

  // Goes to the unit whose header is at `at`; false: there is none. One that is not understood is
  // gone through by next(), too: it has no root.
  bool begin(std::uint64_t at) noexcept;
  std::uint64_t next() const noexcept { return end_; }
  bool holds(std::uint64_t at) const noexcept { return at >= first_ && at < end_; }
  bool root(die* d) noexcept { return is_understood_ && read(first_, d); }
  bool read(std::uint64_t at, die* d) noexcept;
  std::uint64_t behind(const die& d) noexcept;  // and behind its children; 0: damaged
  bool contains(const die& d, std::uint64_t address) const noexcept;
  // Of a unit: what its addresses are relative to.
  void set_base(const die& root) noexcept { base_ = root.has_low ? root.low : 0; }

  // fn(child) -> true: go on.
  template <class Fn>
  void each_child(const die& parent, Fn&& fn) noexcept {
    die child;
    if (!parent.has_children) return;
    for (std::uint64_t at = parent.behind; at != 0 && read(at, &child) && child.tag != 0;
         at = behind(child))
      if (!fn(child)) return;
  }

 private:
  struct value {
    std::uint64_t number = 0;
    std::string_view text;
    bool is_address = false;
  };
  void index_abbreviations() noexcept;
  walk::bytes abbreviation(std::uint64_t code) const noexcept;
  bool read_value(walk::bytes& b, std::uint64_t form, value* v) const noexcept;
  bool read_reference(walk::bytes& b, std::uint64_t form, value* v) const noexcept;
  bool skip_by_number(walk::bytes& b, std::uint64_t form) const noexcept;
  bool in_ranges(std::uint64_t at, std::uint64_t address) const noexcept;
  bool in_range_list(std::uint64_t at, std::uint64_t address) const noexcept;

  static constexpr std::size_t kIndexed = 1024;  // codes count from 1, with few exceptions

  debug_sections s_;
  std::uint64_t left_;  // entries that may still be read
  std::uint64_t header_ = 0, first_ = 0, end_ = 0, base_ = 0, abbreviations_ = 0;
  unsigned version_ = 0, address_bytes_ = 8;
  bool wide_ = false, is_understood_ = false;
  std::uint64_t indexed_from_ = ~std::uint64_t{0};
  std::uint32_t index_[kIndexed] = {};  // where an abbreviation is behind its code; 0: unknown
};

}  // namespace vole::symbols
