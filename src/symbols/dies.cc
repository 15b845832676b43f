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

// How values are written: DW_FORM_*.
enum : std::uint64_t {
  kAddress = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSigned = 0x0d,
  kStringAt = 0x0e,
  kUnsigned = 0x0f,
  kReferenceAnywhere = 0x10,
  kReference1 = 0x11,
  kReference2 = 0x12,
  kReference4 = 0x13,
  kReference8 = 0x14,
  kReferenceUnsigned = 0x15,
  kSectionOffset = 0x17,
  kExpression = 0x18,
  kFlagPresent = 0x19,
  kStringNumber = 0x1a,
  kAddressNumber = 0x1b,
  kOtherReference4 = 0x1c,
  kOtherString = 0x1d,
  kData16 = 0x1e,
  kLineStringAt = 0x1f,
  kSignature = 0x20,
  kInAbbreviation = 0x21,
  kLocationsNumber = 0x22,
  kRangesNumber = 0x23,
  kOtherReference8 = 0x24,
  kString1 = 0x25,
  kString2 = 0x26,
  kString3 = 0x27,
  kString4 = 0x28,
  kAddress1 = 0x29,
  kAddress2 = 0x2a,
  kAddress3 = 0x2b,
  kAddress4 = 0x2c,
  kGnuOtherReference = 0x1f20,
  kGnuOtherString = 0x1f21,
};

// What an entry says: DW_AT_*.
enum : std::uint64_t {
  kSibling = 0x01,
  kName = 0x03,
  kLowest = 0x11,
  kHighest = 0x12,
  kOrigin = 0x31,
  kColumn = 0x39,
  kLine = 0x3b,
  kSpecification = 0x47,
  kRanges = 0x55,
};

// What a list of ranges consists of: DW_RLE_*.
enum : std::uint8_t { kOffsetPair = 4, kBase = 5, kStartAndEnd = 6, kStartAndLength = 7 };

std::uint64_t place_of(const bytes& b, std::string_view section) noexcept {
  return static_cast<std::uint64_t>(b.at() - reinterpret_cast<const std::uint8_t*>(section.data()));
}

// An attribute of interest.
void put(std::uint64_t attribute, std::uint64_t number, std::string_view text, bool is_address,
         die* d) noexcept {
  switch (attribute) {
    case kSibling: d->sibling = number; break;
    case kName: d->name = text; break;
    case kLowest:
      d->low = number;
      d->has_low = is_address;
      break;
    case kHighest:  // behind the lowest
      d->high = is_address ? number : d->low + number;
      d->has_high = true;
      break;
    case kOrigin: d->origin = number; break;
    case kColumn: d->column = number; break;
    case kLine: d->line = number; break;
    case kSpecification: d->specification = number; break;
    case kRanges:
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
      if (form == kInAbbreviation) b.sleb();
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
      if (form == kInAbbreviation)
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
  switch (form) {
    case kAddress:
      v->number = b.number<std::uint64_t>();
      v->is_address = true;
      break;
    case kBlock1: b.skip(b.byte()); break;
    case kBlock2: b.skip(b.number<std::uint16_t>()); break;
    case kBlock4: b.skip(b.number<std::uint32_t>()); break;
    case kBlock:
    case kExpression: b.skip(b.uleb()); break;
    case kData1:
    case kFlag: v->number = b.byte(); break;
    case kData2: v->number = b.number<std::uint16_t>(); break;
    case kData4: v->number = b.number<std::uint32_t>(); break;
    case kData8: v->number = b.number<std::uint64_t>(); break;
    case kData16: b.skip(16); break;
    case kSigned: v->number = static_cast<std::uint64_t>(b.sleb()); break;
    case kUnsigned: v->number = b.uleb(); break;
    case kFlagPresent: v->number = 1; break;
    case kSectionOffset: v->number = offset_in(b, wide_); break;
    case kString:
      v->text = text_at(s_.info.substr(0, static_cast<std::size_t>(end_)), place_of(b, s_.info));
      b.skip(v->text.size() + 1);
      break;
    case kStringAt: v->text = text_at(s_.strings, offset_in(b, wide_)); break;
    case kLineStringAt: v->text = text_at(s_.line_strings, offset_in(b, wide_)); break;
    default: return read_reference(b, form, v) || skip_by_number(b, form);
  }
  return !b.bad();
}

// From now on an offset in the section, as all of them.
bool dies::read_reference(bytes& b, std::uint64_t form, value* v) const noexcept {
  switch (form) {
    case kReferenceAnywhere:
      v->number = version_ == 2 ? b.number<std::uint64_t>() : offset_in(b, wide_);
      break;
    case kReference1: v->number = header_ + b.byte(); break;
    case kReference2: v->number = header_ + b.number<std::uint16_t>(); break;
    case kReference4: v->number = header_ + b.number<std::uint32_t>(); break;
    case kReference8: v->number = header_ + b.number<std::uint64_t>(); break;
    case kReferenceUnsigned: v->number = header_ + b.uleb(); break;
    default: return false;
  }
  return !b.bad();
}

// What stands in another file or in a table by number: not followed, since compilers that write so give
// the linker's names, too.
bool dies::skip_by_number(bytes& b, std::uint64_t form) const noexcept {
  switch (form) {
    case kString1:
    case kAddress1: b.skip(1); break;
    case kString2:
    case kAddress2: b.skip(2); break;
    case kString3:
    case kAddress3: b.skip(3); break;
    case kString4:
    case kAddress4:
    case kOtherReference4: b.skip(4); break;
    case kOtherReference8:
    case kSignature: b.skip(8); break;
    case kStringNumber:
    case kAddressNumber:
    case kLocationsNumber:
    case kRangesNumber: b.uleb(); break;
    case kOtherString:
    case kGnuOtherReference:
    case kGnuOtherString: offset_in(b, wide_); break;
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
      case kOffsetPair:
        from = base + b.uleb();
        to = base + b.uleb();
        break;
      case kBase: base = b.number<std::uint64_t>(); continue;
      case kStartAndEnd:
        from = b.number<std::uint64_t>();
        to = b.number<std::uint64_t>();
        break;
      case kStartAndLength:
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
