#include "sched/run/config.h"

#include <algorithm>
#include <charconv>
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

constexpr std::size_t kShown = 100;  // of a text: the reason must fit, too

[[noreturn]] void refuse(const char* variable, std::string_view value, const char* why,
                         std::string_view key = {}) noexcept {
  base::sentence s;
  s << "vole: " << variable << "=\"" << value.substr(0, kShown)
    << (value.size() > kShown ? "...\": " : "\": ");
  if (!key.empty()) s << key.substr(0, kShown) << ": ";
  s << why << "\n";
  s.print();
  std::_Exit(2);
}

// The whole text a number of these bounds, in decimal digits only.
bool parse_between(std::string_view text, std::uint32_t least, std::uint32_t most,
                   std::uint32_t* out) noexcept {
  std::uint32_t n = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || stopped != end || n < least || n > most) return false;
  *out = n;
  return true;
}

const char* set_evict(std::string_view value, config& c) noexcept {
  std::uint32_t n = 0;
  if (!parse_between(value, 0, 1, &n)) return "must be 0 or 1: evict=0 or evict=1";
  c.evict = n == 1;
  return nullptr;
}

const char* set_storm(std::string_view value, config& c) noexcept {
  return parse_between(value, 10, 1'000'000, &c.storm_us)
             ? nullptr
             : "must be a number of microseconds from 10 to 1000000, as in storm=100";
}

const char* set_strict(std::string_view value, config& c) noexcept {
  std::uint32_t n = 0;
  if (!parse_between(value, 0, 1, &n)) return "must be 0 or 1: strictprocs=0 or strictprocs=1";
  c.strict = n == 1;
  return nullptr;
}

const char* set_preempt_signal(std::string_view value, config& c) noexcept {
  std::uint32_t n = 0;
  if (!parse_between(value, 1, 64, &n) || !os::may_preempt_with(static_cast<int>(n)))
    return "must be the number of a signal that a program may catch and that is no fault, as in "
           "preemptsignal=10";
  c.preempt_signal = n;
  return nullptr;
}

const char* set_thread_idle(std::string_view value, config& c) noexcept {
  return parse_between(value, 0, 3'600'000, &c.thread_idle_ms)
             ? nullptr
             : "must be a number of milliseconds up to 3600000, as in threadidle=5000; 0: no thread "
               "ends for want of work";
}

const char* set_schedtrace(std::string_view value, config& c) noexcept {
  return parse_between(value, 0, 3'600'000, &c.schedtrace_ms)
             ? nullptr
             : "must be a number of milliseconds up to 3600000, as in schedtrace=1000; 0: none";
}

const char* set_scheddetail(std::string_view value, config& c) noexcept {
  std::uint32_t n = 0;
  if (!parse_between(value, 0, 1, &n)) return "must be 0 or 1: scheddetail=0 or scheddetail=1";
  c.scheddetail = n == 1;
  return nullptr;
}

const char* set_stall(std::string_view value, config& c) noexcept {
  return parse_between(value, 0, 3'600'000, &c.stall_ms)
             ? nullptr
             : "must be a number of milliseconds up to 3600000, as in stall=100; 0: none";
}

const char* set_leaks(std::string_view value, config& c) noexcept {
  std::uint32_t n = 0;
  if (!parse_between(value, 0, 1, &n)) return "must be 0 or 1: leaks=0 or leaks=1";
  c.leaks = n == 1;
  return nullptr;
}

const char* set_sigquit(std::string_view value, config& c) noexcept {
  std::uint32_t n = 0;
  if (!parse_between(value, 0, 1, &n)) return "must be 0 or 1: sigquit=0 or sigquit=1";
  c.sigquit = n == 1;
  return nullptr;
}

const char* set_control(std::string_view value, config& c) noexcept {
  std::uint32_t n = 0;
  if (!parse_between(value, 0, 1, &n)) return "must be 0 or 1: control=0 or control=1";
  c.control = n == 1;
  return nullptr;
}

// The interposing library reads this key itself: it may count before there is a runtime.
const char* set_hooks(std::string_view value, config&) noexcept {
  std::uint32_t n = 0;
  return parse_between(value, 0, 1, &n) ? nullptr : "must be 0 or 1: hooks=0 or hooks=1";
}

const char* set_frames(std::string_view value, config& c) noexcept {
  if (value != "all" && value != "user") return "must be all or user: frames=all or frames=user";
  c.all_frames = value == "all";
  return nullptr;
}

const char* set_guards(std::string_view value, config& c) noexcept {
  if (value != "auto" && value != "mprotect")
    return "must be auto or mprotect: guards=auto or guards=mprotect";
  c.mprotect_guards = value == "mprotect";
  return nullptr;
}

const char* set_stacks(std::string_view value, config& c) noexcept {
  return parse_between(value, 1, 32, &c.stacks)
             ? nullptr
             : "must be a number of frames from 1 to 32, as in stacks=8";
}

#define VOLE_KNOWN_KEYS                                                                  \
  "evict=0|1, storm=MICROSECONDS, strictprocs=0|1, preemptsignal=NUMBER, "               \
  "schedtrace=MILLISECONDS, scheddetail=0|1, threadidle=MILLISECONDS, "                  \
  "stall=MILLISECONDS, leaks=0|1, sigquit=0|1, control=0|1, hooks=0|1, "                 \
  "frames=all|user, guards=auto|mprotect and stacks=NUMBER"

struct debug_key {
  std::string_view name;
  const char* (*set)(std::string_view value, config& c) noexcept;  // what is wrong, or nullptr
};
constexpr debug_key kDebugKeys[] = {
    {"evict", set_evict},           {"storm", set_storm},
    {"schedtrace", set_schedtrace}, {"scheddetail", set_scheddetail},
    {"strictprocs", set_strict},    {"preemptsignal", set_preempt_signal},
    {"threadidle", set_thread_idle}, {"stall", set_stall},
    {"leaks", set_leaks},           {"sigquit", set_sigquit},
    {"control", set_control},       {"frames", set_frames},
    {"guards", set_guards},         {"hooks", set_hooks},
    {"stacks", set_stacks},
};

const char* set_debug(std::string_view entry, std::string_view key, config& c) noexcept {
  if (key.empty()) return "must be a list of key=value, separated by single commas";
  for (const debug_key& k : kDebugKeys)
    if (k.name == key) return k.set(entry.substr(std::min(key.size() + 1, entry.size())), c);
  return "no such key: this version knows " VOLE_KNOWN_KEYS;
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

complaint parse_debug(std::string_view text, config& out) noexcept {
  if (text.empty()) return {};
  for (;;) {
    const std::string_view entry = text.substr(0, text.find(','));
    const std::string_view key = entry.substr(0, entry.find('='));
    if (const char* const why = set_debug(entry, key, out)) return {key, why};
    if (entry.size() == text.size()) break;
    text.remove_prefix(entry.size() + 1);
  }
  if (out.storm_us != 0 && !out.evict) return {"storm", "takes Ps away, which evict=0 forbids"};
  if (out.strict && !out.evict) return {"strictprocs", "takes Ps away, which evict=0 forbids"};
  if (out.scheddetail && out.schedtrace_ms == 0)
    return {"scheddetail", "says what is printed, not how often: add schedtrace=MILLISECONDS"};
  return {};
}

void parse_go_debug(std::string_view text, config& out) noexcept {
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    const std::string_view key = entry.substr(0, entry.find('='));
    if (key == "schedtrace" || key == "scheddetail") set_debug(entry, key, out);
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
  }
  if (out.schedtrace_ms == 0) out.scheddetail = false;
}

void refuse_trace(const char* path, int error) noexcept {
  base::sentence s;
  s << "cannot write there: " << os::error_text(error);
  char why[base::sentence::kRoom + 1] = {};
  s.view().copy(why, sizeof why - 1);
  refuse("VOLE_TRACE", path, why);
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
  if (const char* value = os::environment("GODEBUG")) parse_go_debug(value, c);
  if (const char* value = os::environment("VOLE_DEBUG"))
    if (const complaint no = parse_debug(value, c); no.why != nullptr)
      refuse("VOLE_DEBUG", value, no.why, no.key);
  if (const char* value = os::environment("VOLE_TRACE"); value != nullptr && *value != '\0')
    c.trace = value;
}

}  // namespace vole::rt
