// The least that a row of bench/README.md must do: `floor_bench NAME [N]` prints "NAME value unit".
//
// Law    names and units are vole_bench's; the work is less: see floor.h, and each row.
// Exit   0; 1: a wrong result; 2: an unknown NAME (also: one that this processor lacks) or a bad N.
#include "floor.h"
#include "context.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace bench {
namespace {

// Counted: the call. Left out: telling anybody that the thread is away.
int syscall_cost(int n) {
  const stopwatch watch;
  for (int i = 0; i < n; ++i) ::syscall(SYS_getppid);
  report("syscall", watch.ns() / n, "ns/op");
  return 0;
}

// Counted: a compare-exchange to lock, one to unlock (it has to see whether somebody waits), the
// sum between. Left out: the other 63, who wait in turn, and the other core.
int mutex64(int n) {
  std::atomic<std::uint32_t> word{0};
  volatile long x = 0;
  const stopwatch watch;
  for (int i = 0; i < n; ++i) {
    std::uint32_t expected = 0;
    if (!word.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return 1;
    x = x + 1;
    expected = 1;
    if (!word.compare_exchange_strong(expected, 0, std::memory_order_release)) return 1;
  }
  report("mutex64", watch.ns() / n, "ns/op");
  return x == n ? 0 : 1;
}

constexpr benchmark kCalls[] = {
    {"syscall", syscall_cost, 5'000'000},
    {"mutex64", mutex64, 6'400'000},
};

// Rows that switch are not for processors without the switch.
std::vector<benchmark> offered() {
  std::vector<benchmark> all;
  for (const auto table : {calls(), stacks()}) all.insert(all.end(), table.begin(), table.end());
  if (!can_switch) return all;
  for (const auto table : {turns(), messages()}) all.insert(all.end(), table.begin(), table.end());
  return all;
}

int usage(const char* complaint, const char* word) {
  std::fprintf(stderr, "floor_bench: %s%s\nusage: floor_bench NAME [N]; names:", complaint, word);
  for (const benchmark& b : offered()) std::fprintf(stderr, " %s", b.name.data());
  if (!can_switch) std::fprintf(stderr, "; those that switch are not for this processor");
  std::fputc('\n', stderr);
  return 2;
}

}  // namespace

std::span<const benchmark> calls() { return kCalls; }

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  if (argc < 2) return usage("no name", "");
  const std::vector<benchmark> all = offered();
  const auto wanted = std::find_if(all.begin(), all.end(),
                                   [argv](const benchmark& b) { return b.name == argv[1]; });
  if (wanted == all.end()) return usage("unknown name: ", argv[1]);
  int n = wanted->default_n;
  if (argc > 2) {
    const std::string_view word = argv[2];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || end != word.data() + word.size() || n < 1)
      return usage("bad N: ", argv[2]);
  }
  return wanted->run(n);
}
