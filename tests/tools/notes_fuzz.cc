// libFuzzer on the reader of ELF files: the input is a file, or (first byte odd) its notes.
#include <cstddef>
#include <cstdint>
#include <span>

#include "outside/elf_image.h"
#include "refusal.h"

namespace {

std::size_t touched = 0;

void touch(const vole_command::outside::elf_note& n) {
  for (const char c : n.name) touched += static_cast<unsigned char>(c);
  for (const std::byte b : n.content) touched += static_cast<std::size_t>(b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vole_command;
  using namespace vole_command::outside;
  const bytes_view file = std::as_bytes(std::span(data, size));
  if (size != 0 && data[0] % 2 == 1) {
    for_each_note(file.subspan(1), 0, data[0] % 4 == 3 ? 8 : 4, &touch);
    return 0;
  }
  try {
    const elf_image image(file, "it");
    image.for_each_note(&touch);
    touched += image.build_id().size();
    for (const Elf64_Phdr& p : image.headers())
      for (const std::uint64_t at : {p.p_vaddr, p.p_vaddr + p.p_filesz, p.p_vaddr - 1})
        for (const std::uint64_t bytes : {1, 8, 4096}) {
          char to[4096];
          touched += image.read_constant(at, to, bytes) ? 1u : 0u;
        }
  } catch (const refusal&) {
  }
  return 0;
}
