#include "sched/config.h"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/fatal.h"
#include "os/os.h"
#include "queue/steal_order.h"
#include "stack/depot.h"

namespace vole::rt {
namespace {

// Decimal digits only: no sign, no blanks, no exponent. False: not that, or too large.
bool parse_digits(const char* text, const char** end, std::uint64_t* out) noexcept {
  std::uint64_t n = 0;
  const char* at = text;
  for (; *at >= '0' && *at <= '9'; ++at) {
    n = n * 10 + static_cast<std::uint64_t>(*at - '0');
    if (n > (std::uint64_t{1} << 32)) return false;  // followed by G it must still fit 64 bits
  }
  *end = at;
  *out = n;
  return at != text;
}

[[noreturn]] void refuse(const char* variable, const char* value, const char* why) noexcept {
  constexpr std::size_t kShown = 100;  // of the value: the reason must fit, too
  const std::string_view whole(value);
  base::sentence s;
  s << "vole: " << variable << "=\"" << whole.substr(0, kShown)
    << (whole.size() > kShown ? "...\": " : "\": ") << why << "\n";
  s.print();
  std::_Exit(2);
}

}  // namespace

const char* parse_procs(const char* text, std::uint32_t* out) noexcept {
  constexpr const char* kWhy = "must be a whole number from 1 to 1024";
  static_assert(kMaxProcs == 1024);
  const char* end = nullptr;
  std::uint64_t n = 0;
  if (!parse_digits(text, &end, &n) || *end != '\0' || n < 1 || n > kMaxProcs) return kWhy;
  *out = static_cast<std::uint32_t>(n);
  return nullptr;
}

const char* parse_stack_size(const char* text, std::uint32_t* out) noexcept {
  constexpr const char* kWhy =
      "must be a size from 16K to 1G: bytes, or a number followed by K, M or G";
  static_assert(depot::kMinStackSize == 16 * 1024 && depot::kMaxStackSize == (1u << 30));
  const char* end = nullptr;
  std::uint64_t n = 0;
  if (!parse_digits(text, &end, &n)) return kWhy;
  constexpr char kUnits[] = "KMG";
  if (const char* unit = *end != '\0' ? std::strchr(kUnits, *end) : nullptr) {
    n <<= 10 * (unit - kUnits + 1);
    ++end;
  }
  if (*end != '\0' || n < depot::kMinStackSize || n > depot::kMaxStackSize) return kWhy;
  *out = static_cast<std::uint32_t>(depot::round_size(n));
  return nullptr;
}

void read_environment(config& c) noexcept {
  for (const char* variable : {"VOLE_MAXPROCS", "GOMAXPROCS"}) {
    const char* const value = os::environment(variable);
    if (value == nullptr) continue;
    std::uint32_t n = 0;
    if (const char* why = parse_procs(value, &n)) refuse(variable, value, why);
    if (c.procs.load(base::relaxed) == 0) c.procs.store(n, base::relaxed);
    break;
  }
  if (const char* value = os::environment("VOLE_STACK_SIZE"))
    if (const char* why = parse_stack_size(value, &c.stack_bytes))
      refuse("VOLE_STACK_SIZE", value, why);
  if (const char* value = os::environment("VOLE_DEBUG"); value != nullptr && *value != '\0')
    refuse("VOLE_DEBUG", value, "this version knows no debug settings; unset it");
  if (const char* value = os::environment("VOLE_TRACE"); value != nullptr && *value != '\0')
    refuse("VOLE_TRACE", value, "this version writes no traces; unset it");
}

}  // namespace vole::rt
