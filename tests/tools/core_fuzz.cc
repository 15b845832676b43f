// libFuzzer on what reads cores and roots. The input is either a core as it is, or (first byte odd)
// a list of changes to a good one: where, in two bytes, and to what, in one.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "outside/picture.h"
#include "refusal.h"
#include "synthetic_core.h"

namespace {

std::vector<char> input_of(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] % 2 == 0) return {data, data + size};
  std::vector<char> core = synthetic::core();
  for (std::size_t i = 1; i + 3 <= size; i += 3)
    core[(data[i] | data[i + 1] << 8) % core.size()] = static_cast<char>(data[i + 2]);
  if (data[0] % 4 == 3) core.resize(core.size() * data[0] / 256);
  return core;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vole_command;
  const std::vector<char> core = input_of(data, size);
  try {
    const auto t = outside::target::of_core_bytes(std::as_bytes(std::span(core)), "it");
    outside::found_root root;
    if (outside::read_root(t->mem(), synthetic::kRoot, "it", &root))
      outside::take_picture(*t, root);
  } catch (const refusal&) {
  }
  return 0;
}
