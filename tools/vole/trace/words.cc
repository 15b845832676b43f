// See words.h.
#include "trace/words.h"

#include <cmath>
#include <cstdio>

namespace vole_trace {
namespace {

constexpr std::uint32_t kBroken = 0xfffd;

// The next code point; kBroken, and one byte further, where there is no proper one.
std::uint32_t next_of(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  std::uint32_t code = lead & (0x3fU >> more);
  if (lead < 0xc2 || lead > 0xf4 || text.size() - at < static_cast<std::size_t>(more)) {
    return kBroken;
  }
  for (int i = 0; i < more; ++i) {
    const std::uint8_t next = byte(at + static_cast<std::size_t>(i));
    if ((next & 0xc0) != 0x80) return kBroken;
    code = code << 6 | (next & 0x3f);
  }
  static constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return kBroken;
  at += static_cast<std::size_t>(more);
  return code;
}

void append(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t x) { out += static_cast<char>(x); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3f));
    }
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

bool is_control(std::uint32_t code) {
  // C0, DEL, C1, and the marks that change the direction of writing.
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string duration_text(double ns) {
  static constexpr struct {
    double unit;
    const char* name;
  } kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  for (const auto& u : kUnits) {
    // 999.6 of one unit is 1.00 of the next.
    if (ns < u.unit * 0.9995 && u.unit > 1) continue;
    const double x = ns / u.unit;
    char text[64];
    const int digits = u.unit == 1 ? 0 : x < 9.995 ? 2 : x < 99.95 ? 1 : 0;
    std::snprintf(text, sizeof text, "%.*f %s", digits, x, u.name);
    return text;
  }
  return "0 ns";
}

std::string count_text(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size(); ++columns) next_of(text, at);
  return columns;
}

std::string shown(std::string_view text, std::size_t columns) {
  const std::size_t all = width(text);
  const std::size_t too_many = all > columns ? all - columns + 1 : 0;
  const std::size_t head = too_many == 0 ? all : (columns - 1) * 2 / 5;
  std::string out;
  std::size_t seen = 0;
  for (std::size_t at = 0; at < text.size(); ++seen) {
    const std::uint32_t code = next_of(text, at);
    if (too_many != 0 && seen == head) out += "…";
    if (seen >= head && seen < head + too_many) continue;
    append(out, is_control(code) ? '?' : code);
  }
  return out;
}

std::string left(std::string_view text, std::size_t columns) {
  std::string out = shown(text, columns);
  out.append(columns - width(out), ' ');
  return out;
}

std::string right(std::string_view text, std::size_t columns) {
  const std::string out = shown(text);
  const std::size_t used = width(out);
  return used >= columns ? out : std::string(columns - used, ' ') + out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code = next_of(text, at);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
      out += escaped;
    } else {
      append(out, code);
    }
  }
  return out + "\"";
}

std::string json_number(double x) {
  if (!std::isfinite(x)) return "0";
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", x);
  std::string out = text;
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out;
}

}  // namespace vole_trace
