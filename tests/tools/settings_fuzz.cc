// libFuzzer on the settings: what the variables of the environment may hold. What is understood lies
// within its bounds and is understood again; what is not has a sentence, and names a part of the text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/fatal.h"
#include "os/os.h"
#include "sched/run/config.h"
#include "stack/depot.h"

// What the settings ask of other rooms.
namespace vole {
namespace base {
sentence& sentence::operator<<(std::string_view) noexcept { return *this; }
void sentence::print() const noexcept {}
}  // namespace base
namespace os {
bool may_preempt_with(int signal) noexcept { return signal == 10 || signal == 23; }
const char* environment(const char*) noexcept { return nullptr; }
std::string_view error_text(int) noexcept { return {}; }
}  // namespace os
namespace rt::depot {
std::size_t round_size(std::size_t bytes) noexcept { return bytes; }
}  // namespace rt::depot
}  // namespace vole

namespace {

using namespace vole::rt;

void must(bool holds) {
  if (!holds) __builtin_trap();
}

void settle(std::string_view text) {
  config c;
  const complaint no = parse_debug(text, c);
  if (no.why != nullptr) return must(*no.why != '\0' && no.key.size() <= text.size() + 16);
  must(c.storm_us == 0 || (c.storm_us >= 10 && c.storm_us <= 1'000'000 && c.evict));
  must(!c.strict || c.evict);
  must(c.schedtrace_ms <= 3'600'000 && c.stall_ms <= 3'600'000 && c.thread_idle_ms <= 3'600'000);
  must(c.preempt_signal == 10 || c.preempt_signal == 23);
  must(c.stacks >= 1 && c.stacks <= 32);
  must(parse_debug(text, c).why == nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::uint32_t n = 0;
  switch (data[0] % 4) {
    case 0:
      if (parse_procs(text.c_str(), &n) == nullptr)
        must(n >= 1 && n <= 1024 && std::strtoul(text.c_str(), nullptr, 10) == n);
      break;
    case 1:
      if (parse_stack_size(text.c_str(), &n) == nullptr)
        must(n >= depot::kMinStackSize && n <= depot::kMaxStackSize);
      break;
    case 2: settle(text); break;
    default: {
      config c;
      parse_go_debug(text, c);
      must(c.schedtrace_ms <= 3'600'000 && (!c.scheddetail || c.schedtrace_ms != 0));
    }
  }
  return 0;
}
