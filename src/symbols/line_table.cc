#include "symbols/line_table.h"

#include <algorithm>
#include <cstring>

#include "symbols/section_text.h"
#include "walk/bytes.h"

namespace vole::symbols {
namespace {

using walk::bytes;

constexpr std::size_t kMostFormats = 8;

bytes reader_of(std::string_view text) noexcept {
  const auto* const at = reinterpret_cast<const std::uint8_t*>(text.data());
  return {at, at + text.size()};
}

std::string_view text_in(bytes& b) noexcept {
  const auto* const from = reinterpret_cast<const char*>(b.at());
  std::size_t n = 0;
  while (b.more() && b.byte() != 0) ++n;
  return b.bad() ? std::string_view() : std::string_view(from, n);
}

// One entry of a list of files or folders.
struct name {
  std::string_view text;
  std::uint64_t folder = 0;
};

class unit {
 public:
  // False: not a table that we understand.
  bool begin(const line_sections& s, bytes whole, bool wide) noexcept {
    sections_ = &s;
    wide_ = wide;
    version_ = whole.number<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return false;
    if (version_ == 5) whole.skip(2);  // sizes of an address and of a segment
    bytes rest = whole;
    const std::uint64_t header = offset_in(rest, wide);
    bytes head = rest.block(header);
    if (rest.bad()) return false;
    program_ = rest;
    smallest_ = head.byte();
    if (version_ >= 4) head.skip(1);
    head.skip(1);
    line_base_ = static_cast<std::int8_t>(head.byte());
    line_range_ = head.byte();
    opcode_base_ = head.byte();
    for (unsigned i = 1; i < opcode_base_; ++i) operands_[i] = head.byte();
    names_ = head;
    return !head.bad() && line_range_ != 0 && opcode_base_ != 0;
  }

  // Is the address in there? Then by which file and line.
  bool search(std::uint64_t address, std::uint64_t* file, int* line) noexcept {
    bytes b = program_;
    row now, last;
    bool any = false;
    while (b.more()) {
      bool is_row = false, ends = false;
      if (!step(b, now, &is_row, &ends)) return false;
      if (!is_row) continue;
      if (any && last.address <= address && address < now.address && begun_ != 0) {
        *file = last.file;
        *line = static_cast<int>(last.line);
        return true;
      }
      if (!any) begun_ = now.address;
      last = now;
      any = !ends;
      if (ends) now = {};
    }
    return false;
  }

  void put_file(std::uint64_t file, line_place* to) const noexcept {
    name n, folder;
    version_ == 5 ? find_v5(file, &n, &folder) : find_v4(file, &n, &folder);
    std::size_t used = 0;
    const auto put = [&](std::string_view text) noexcept {
      const std::size_t k = std::min(text.size(), sizeof to->file - 1 - used);
      used += text.copy(to->file + used, k);
    };
    if (!n.text.starts_with('/') && !folder.text.empty()) {
      put(folder.text);
      put("/");
    }
    put(n.text);
    to->file[used] = '\0';
  }

 private:
  struct row {
    std::uint64_t address = 0, file = 1;
    unsigned line = 1;  // modulo 2^32: a damaged table may say anything
  };

  // One instruction. False: the program makes no sense.
  bool step(bytes& b, row& r, bool* is_row, bool* ends) noexcept {
    const unsigned code = b.byte();
    if (code >= opcode_base_) {
      const unsigned special = code - opcode_base_;
      r.address += std::uint64_t{smallest_} * (special / line_range_);
      r.line += static_cast<unsigned>(line_base_) + special % line_range_;
      *is_row = true;
    } else if (code == 0) {
      extended(b, r, is_row, ends);
    } else {
      standard(code, b, r, is_row);
    }
    return !b.bad();
  }
  void extended(bytes& b, row& r, bool* is_row, bool* ends) noexcept {
    bytes own = b.block(b.uleb());
    const unsigned code = own.byte();
    if (code == 1) *is_row = *ends = true;                   // DW_LNE_end_sequence
    if (code == 2) r.address = own.number<std::uint64_t>();  // DW_LNE_set_address
  }
  void standard(unsigned code, bytes& b, row& r, bool* is_row) noexcept {
    switch (code) {
      case 1: *is_row = true; break;                             // copy
      case 2: r.address += smallest_ * b.uleb(); break;          // advance_pc
      case 3: r.line += static_cast<unsigned>(b.sleb()); break;  // advance_line
      case 4: r.file = b.uleb(); break;                          // set_file
      case 8: r.address += smallest_ * ((255u - opcode_base_) / line_range_); break;
      case 9: r.address += b.number<std::uint16_t>(); break;  // fixed_advance_pc
      default:
        for (unsigned i = 0; i < operands_[code]; ++i) b.uleb();
    }
  }

  // Folders, then files; both count from 1, folder 0 is where the compiler was started.
  void find_v4(std::uint64_t file, name* n, name* folder) const noexcept {
    bytes b = names_;
    while (b.more() && !text_in(b).empty()) {
    }
    for (std::uint64_t i = 1; b.more(); ++i) {
      name one{text_in(b), 0};
      if (one.text.empty()) return;
      one.folder = b.uleb();
      b.uleb();
      b.uleb();
      if (i != file) continue;
      *n = one;
      bytes folders = names_;
      for (std::uint64_t k = 1; k <= one.folder && folders.more(); ++k)
        folder->text = text_in(folders);
      return;
    }
  }
  // The same with a description of what an entry consists of; both count from 0.
  void find_v5(std::uint64_t file, name* n, name* folder) const noexcept {
    bytes folders = names_, files = names_;
    entry_of(files, ~std::uint64_t{0}, nullptr);
    entry_of(files, file, n);
    entry_of(folders, n->folder, folder);
  }
  // Reads a list to its end.
  void entry_of(bytes& b, std::uint64_t wanted, name* found) const noexcept {
    std::uint64_t kinds[kMostFormats], forms[kMostFormats];
    const std::size_t n = b.byte();
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t kind = b.uleb(), form = b.uleb();
      if (i < kMostFormats) kinds[i] = kind, forms[i] = form;
    }
    const std::uint64_t count = b.uleb();
    if (n == 0 || n > kMostFormats) return b.skip(~std::uint64_t{0});
    for (std::uint64_t k = 0; k < count && !b.bad(); ++k) {
      name one;
      for (std::size_t i = 0; i < n; ++i) {
        std::uint64_t number = 0;
        const std::string_view text = value_of(b, forms[i], &number);
        if (kinds[i] == 1) one.text = text;      // DW_LNCT_path
        if (kinds[i] == 2) one.folder = number;  // DW_LNCT_directory_index
      }
      if (k == wanted && found != nullptr) *found = one;
    }
  }
  std::string_view value_of(bytes& b, std::uint64_t form, std::uint64_t* number) const noexcept {
    switch (form) {
      case 0x08: return text_in(b);                                             // string
      case 0x1f: return text_at(sections_->line_strings, offset_in(b, wide_));  // line_strp
      case 0x0e: return text_at(sections_->strings, offset_in(b, wide_));       // strp
      case 0x0b: *number = b.byte(); return {};                                 // data1
      case 0x05: *number = b.number<std::uint16_t>(); return {};                // data2
      case 0x06: *number = b.number<std::uint32_t>(); return {};                // data4
      case 0x07: *number = b.number<std::uint64_t>(); return {};                // data8
      case 0x0f: *number = b.uleb(); return {};                                 // udata
      case 0x1e: b.skip(16); return {};                                         // data16
      case 0x09: b.skip(b.uleb()); return {};                                   // block
      default: b.skip(~std::uint64_t{0}); return {};
    }
  }

  const line_sections* sections_ = nullptr;
  bytes program_{nullptr, nullptr}, names_{nullptr, nullptr};
  bool wide_ = false;
  unsigned version_ = 0, smallest_ = 1, opcode_base_ = 0;
  int line_base_ = 0;
  unsigned line_range_ = 1;
  std::uint8_t operands_[256] = {};
  std::uint64_t begun_ = 0;  // where the sequence began; at 0: of a function that was dropped
};

}  // namespace

bool line_in(const line_sections& s, std::uint64_t address, line_place* found) noexcept {
  for (bytes all = reader_of(s.lines); all.more();) {
    std::uint64_t size = all.number<std::uint32_t>();
    const bool wide = size == 0xffffffffu;
    if (wide) size = all.number<std::uint64_t>();
    const bytes whole = all.block(size);
    if (all.bad()) return false;
    unit u;
    std::uint64_t file = 0;
    if (!u.begin(s, whole, wide) || !u.search(address, &file, &found->line)) continue;
    u.put_file(file, found);
    return found->file[0] != '\0' && found->line > 0;
  }
  return false;
}

}  // namespace vole::symbols
