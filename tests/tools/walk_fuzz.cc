// libFuzzer on the walker: the input is what the tables say about every function, and a stack.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "walk/expression.h"
#include "walk/walk.h"

namespace {

const std::uint8_t* instructions = nullptr;
std::size_t instructions_bytes = 0;
std::size_t common_bytes = 0;

}  // namespace

// Instead of walk/tables.cc: one entry, for all program counters.
bool vole::walk::find_entry(std::uintptr_t pc, table_entry* found) noexcept {
  found->from = pc & ~std::uintptr_t{0xff};
  found->to = found->from + 0x100;
  found->data_align = -8;
  found->return_register = 16;
  found->common = {instructions, instructions + common_bytes};
  found->own = {instructions + common_bytes, instructions + instructions_bytes};
  return true;
}

extern "C" void vole_land() noexcept {}  // where departed goroutines stand: there are none here

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vole;
  if (size < 4) return 0;
  instructions = data + 3;
  instructions_bytes = size - 3;
  common_bytes = data[0] % (instructions_bytes + 1);
  alignas(16) std::uintptr_t stack[64];
  for (std::size_t i = 0; i < 64; ++i)
    stack[i] =
        i % 4 == 0 ? 0x400000 + i : reinterpret_cast<std::uintptr_t>(&stack[(i + data[1]) % 64]);
  const auto from = reinterpret_cast<std::uintptr_t>(stack);
  const walk::memory memory{from, from + sizeof stack};
  arch::registers r{};
  for (unsigned i = 0; i < arch::kRegisters; ++i) r.set(i, from + data[2]);
  walk::cursor c{r, 0x400080, (data[1] & 1) != 0};
  for (int steps = 0; steps < 50 && walk::step(c, memory, nullptr); ++steps) {
  }
  std::uintptr_t result;
  walk::evaluate({instructions, instructions + instructions_bytes}, r, memory, &from, &result);
  return 0;
}
