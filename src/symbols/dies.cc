#include "symbols/dies.h"

#include <algorithm>
#include <cstring>

#include "symbols/section_text.h"

namespace vole::symbols {
namespace {

using walk::bytes;

bytes reader_of(std::string_view section, std::uint64_t from, std::uint64_t to) noexcept {
  const auto* const at = reinterpret_cast<const std::uint8_t*>(section.data());
  const std::uint64_t end = std::min<std::uint64_t>(to, section.size());
  return {at + std::min(from, end), at + end};
}

std::uint64_t place_of(const bytes& b, std::string_view section) noexcept {
  return static_cast<std::uint64_t>(b.at() - reinterpret_cast<const std::uint8_t*>(section.data()));
}

// An attribute of interest.
void put(std::uint64_t attribute, std::uint64_t number, std::string_view text, bool is_address,
         die* d) noexcept {
  switch (attribute) {
    case 0x01: d->sibling = number; break;
    case 0x03: d->name = text; break;
    case 0x11:
      d->low = number;
      d->has_low = is_address;
      break;
    case 0x12:
      d->high = is_address ? number : d->low + number;  // low_pc comes first
      d->has_high = true;
      break;
    case 0x31: d->origin = number; break;
    case 0x39: d->column = number; break;
    case 0x3b: d->line = number; break;
    case 0x47: d->specification = number; break;
    case 0x55:
      d->ranges = number;
      d->has_ranges = true;
      break;
    default: break;
  }
}

}  // namespace

bool dies::begin(std::uint64_t at) noexcept {
  is_understood_ = false;
  bytes b = reader_of(s_.info, at, ~std::uint64_t{0});
  header_ = at;
  std::uint64_t size = b.number<std::uint32_t>();
  wide_ = size == 0xffffffffu;
  if (wide_) size = b.number<std::uint64_t>();
  const std::uint64_t from = place_of(b, s_.info);
  if (b.bad() || size == 0 || size > s_.info.size() - from) return false;
  end_ = from + size;
  version_ = b.number<std::uint16_t>();
  unsigned kind = 1;
  if (version_ >= 5) {
    kind = b.byte();
    address_bytes_ = b.byte();
    abbreviations_ = offset_in(b, wide_);
  } else {
    abbreviations_ = offset_in(b, wide_);
    address_bytes_ = b.byte();
  }
  first_ = place_of(b, s_.info);
  base_ = 0;
  is_understood_ = !b.bad() && version_ >= 2 && version_ <= 5 && (kind == 1 || kind == 3) &&
                   address_bytes_ == 8 && abbreviations_ < s_.abbreviations.size();
  if (is_understood_) index_abbreviations();
  return true;
}

void dies::index_abbreviations() noexcept {
  if (indexed_from_ == abbreviations_) return;
  indexed_from_ = abbreviations_;
  std::memset(index_, 0, sizeof index_);
  bytes b = reader_of(s_.abbreviations, abbreviations_, 0xffffffffu);
  while (b.more()) {
    const std::uint64_t code = b.uleb();
    if (code == 0) return;
    if (code < kIndexed) index_[code] = static_cast<std::uint32_t>(place_of(b, s_.abbreviations));
    b.uleb();
    b.skip(1);
    for (std::uint64_t attribute = 1, form = 1; b.more() && (attribute | form) != 0;) {
      attribute = b.uleb();
      form = b.uleb();
      if (form == 0x21) b.sleb();
    }
  }
}

bytes dies::abbreviation(std::uint64_t code) const noexcept {
  const std::uint64_t at = code < kIndexed ? index_[code] : 0;
  return at != 0 ? reader_of(s_.abbreviations, at, ~std::uint64_t{0}) : bytes(nullptr, nullptr);
}

bool dies::read(std::uint64_t at, die* d) noexcept {
  *d = {};
  if (!is_understood_ || !holds(at) || left_ == 0) return false;
  --left_;
  d->at = at;
  bytes b = reader_of(s_.info, at, end_);
  const std::uint64_t code = b.uleb();
  if (code != 0) {
    bytes a = abbreviation(code);
    d->tag = static_cast<unsigned>(a.uleb());
    d->has_children = a.byte() != 0;
    while (!a.bad()) {
      const std::uint64_t attribute = a.uleb(), form = a.uleb();
      if ((attribute | form) == 0) break;
      value v;
      if (form == 0x21)  // implicit_const
        v.number = static_cast<std::uint64_t>(a.sleb());
      else if (!read_value(b, form, &v))
        return false;
      put(attribute, v.number, v.text, v.is_address, d);
    }
    if (a.bad() || d->tag == 0) return false;
  }
  d->behind = place_of(b, s_.info);
  return !b.bad();
}

bool dies::read_value(bytes& b, std::uint64_t form, value* v) const noexcept {
  const auto text = [](std::string_view t, value* to) noexcept { to->text = t; };
  switch (form) {
    case 0x01:  // addr
      v->number = b.number<std::uint64_t>();
      v->is_address = true;
      break;
    case 0x03: b.skip(b.number<std::uint16_t>()); break;  // block2
    case 0x04: b.skip(b.number<std::uint32_t>()); break;  // block4
    case 0x09:
    case 0x18: b.skip(b.uleb()); break;  // block, exprloc
    case 0x0a: b.skip(b.byte()); break;  // block1
    case 0x0b:
    case 0x0c:
    case 0x25:
    case 0x29: v->number = b.byte(); break;
    case 0x05:
    case 0x26:
    case 0x2a: v->number = b.number<std::uint16_t>(); break;
    case 0x27:
    case 0x2b: b.skip(3); break;  // strx3, addrx3
    case 0x06:
    case 0x28:
    case 0x2c:
    case 0x1c: v->number = b.number<std::uint32_t>(); break;
    case 0x07:
    case 0x20:
    case 0x24: v->number = b.number<std::uint64_t>(); break;
    case 0x0d: v->number = static_cast<std::uint64_t>(b.sleb()); break;
    case 0x0f:
    case 0x1a:
    case 0x1b:
    case 0x22:
    case 0x23: v->number = b.uleb(); break;
    case 0x08: {  // string
      text(text_at(s_.info.substr(0, static_cast<std::size_t>(end_)), place_of(b, s_.info)), v);
      b.skip(v->text.size() + 1);
      break;
    }
    case 0x0e: text(text_at(s_.strings, offset_in(b, wide_)), v); break;       // strp
    case 0x1f: text(text_at(s_.line_strings, offset_in(b, wide_)), v); break;  // line_strp
    case 0x17:
    case 0x1d:
    case 0x1f20:
    case 0x1f21: v->number = offset_in(b, wide_); break;
    case 0x19: v->number = 1; break;  // flag_present
    case 0x1e: b.skip(16); break;     // data16
    default: return read_reference(b, form, v);
  }
  return !b.bad();
}

// From now on an offset in the section, as all of them.
bool dies::read_reference(bytes& b, std::uint64_t form, value* v) const noexcept {
  switch (form) {
    case 0x10: v->number = version_ == 2 ? b.number<std::uint64_t>() : offset_in(b, wide_); break;
    case 0x11: v->number = header_ + b.byte(); break;
    case 0x12: v->number = header_ + b.number<std::uint16_t>(); break;
    case 0x13: v->number = header_ + b.number<std::uint32_t>(); break;
    case 0x14: v->number = header_ + b.number<std::uint64_t>(); break;
    case 0x15: v->number = header_ + b.uleb(); break;
    default: return false;
  }
  return !b.bad();
}

std::uint64_t dies::behind(const die& d) noexcept {
  if (!d.has_children) return d.behind;
  if (d.sibling > d.at) return d.sibling;
  die child;
  std::uint64_t at = d.behind;
  for (int depth = 1; depth > 0;) {
    if (!read(at, &child)) return 0;
    at = child.behind;
    if (child.tag == 0) {
      --depth;
    } else if (child.has_children && child.sibling > child.at) {
      at = child.sibling;
    } else if (child.has_children) {
      ++depth;
    }
  }
  return at;
}

bool dies::contains(const die& d, std::uint64_t address) const noexcept {
  if (d.has_ranges)
    return version_ >= 5 ? in_range_list(d.ranges, address) : in_ranges(d.ranges, address);
  return d.has_low && d.has_high && address >= d.low && address < d.high;
}

// Pairs; one that begins at the end of all addresses names another base.
bool dies::in_ranges(std::uint64_t at, std::uint64_t address) const noexcept {
  std::uint64_t base = base_;
  for (bytes b = reader_of(s_.ranges, at, ~std::uint64_t{0}); b.more();) {
    const auto from = b.number<std::uint64_t>(), to = b.number<std::uint64_t>();
    if (b.bad() || (from == 0 && to == 0)) return false;
    if (from == ~std::uint64_t{0})
      base = to;
    else if (address >= base + from && address < base + to)
      return true;
  }
  return false;
}

bool dies::in_range_list(std::uint64_t at, std::uint64_t address) const noexcept {
  std::uint64_t base = base_;
  for (bytes b = reader_of(s_.range_lists, at, ~std::uint64_t{0}); b.more();) {
    std::uint64_t from = 0, to = 0;
    switch (b.byte()) {
      case 4:  // offset_pair
        from = base + b.uleb();
        to = base + b.uleb();
        break;
      case 5: base = b.number<std::uint64_t>(); continue;  // base_address
      case 6:                                              // start_end
        from = b.number<std::uint64_t>();
        to = b.number<std::uint64_t>();
        break;
      case 7:  // start_length
        from = b.number<std::uint64_t>();
        to = from + b.uleb();
        break;
      default: return false;  // the end; those by number are of compilers that give linker's names
    }
    if (!b.bad() && address >= from && address < to) return true;
  }
  return false;
}

}  // namespace vole::symbols
