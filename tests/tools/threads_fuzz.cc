// libFuzzer on `vole core threads`: the input is a core, as in core_fuzz.cc; what comes of it is a core
// again.
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "outside/core_file.h"
#include "outside/core_threads.h"
#include "outside/elf_image.h"
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

// The program that the core is of: nothing but the note that leads to the root.
std::vector<char> program() {
  constexpr std::uint64_t kNote = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  constexpr std::uint64_t kContent = kNote + sizeof(Elf64_Nhdr) + 8;
  Elf64_Ehdr h{};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_type = ET_DYN;
  h.e_machine = vole_command::outside::kMachine;
  h.e_phoff = sizeof h;
  h.e_phentsize = sizeof(Elf64_Phdr);
  h.e_phnum = 2;
  std::vector<char> all;
  synthetic::append(all, h);
  synthetic::append(all, Elf64_Phdr{PT_LOAD, PF_R, 0, 0, 0, kContent + 8, kContent + 8, 4096});
  synthetic::append(all, Elf64_Phdr{PT_NOTE, PF_R, kNote, kNote, 0, kContent + 8 - kNote,
                                    kContent + 8 - kNote, 4});
  synthetic::append(all, Elf64_Nhdr{5, 8, vole::root::kNoteType});
  all.insert(all.end(), {'v', 'o', 'l', 'e', 0, 0, 0, 0});
  synthetic::append(all, synthetic::kRoot - synthetic::kBase - kContent);
  return all;
}

struct memory_file {
  explicit memory_file(const char* name) : fd(memfd_create(name, MFD_CLOEXEC)) {}
  void put(const std::vector<char>& bytes) const {
    if (ftruncate(fd, 0) != 0 ||
        pwrite(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  int fd;
};

// A good core has its goroutine as a thread, so that this is not a test of refusals only.
const memory_file& good_program() {
  static const memory_file file = [] {
    const memory_file f("program"), core("core");
    f.put(program());
    core.put(synthetic::core());
    if (vole_command::outside::add_goroutine_threads(core.path(), f.path()) == 0) std::abort();
    return f;
  }();
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vole_command;
  using namespace vole_command::outside;
  static const memory_file core("core");
  core.put(input_of(data, size));
  try {
    add_goroutine_threads(core.path(), good_program().path());
    const mapped_file whole(core.path());
    const core_file again(whole.bytes(), "it");
  } catch (const refusal&) {
  }
  return 0;
}
