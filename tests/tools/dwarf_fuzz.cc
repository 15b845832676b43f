// libFuzzer on dwarf_index.cc: what libdw and we make of damaged debug information. The input is a list
// of changes to a good file, tests/tools/corpus/debug.so: where, in two bytes, and to what, in one.
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <libelf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "outside/dwarf_index.h"

namespace {

const std::vector<char>& good_file() {
  static const std::vector<char> bytes = [] {
    std::ifstream in(VOLE_CORPUS "/debug.so", std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(in), {});
  }();
  if (bytes.empty()) std::abort();
  return bytes;
}

// Of a module: the file itself is all there is.
int find_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }
int find_debug(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
               char**) {
  return -1;
}
const Dwfl_Callbacks kCallbacks = {find_elf, find_debug, dwfl_offline_section_address, nullptr};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vole_command::outside;
  std::vector<char> bytes = good_file();
  for (std::size_t i = 0; i + 3 <= size && i < 3 * 64; i += 3)
    bytes[(data[i] | data[i + 1] << 8) % bytes.size()] = static_cast<char>(data[i + 2]);
  elf_version(EV_CURRENT);
  const int fd = memfd_create("module", MFD_CLOEXEC);
  if (write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  Dwfl* const dwfl = dwfl_begin(&kCallbacks);
  if (Dwfl_Module* const m = dwfl_report_elf(dwfl, "module", "module", fd, 0x10000, false)) {
    dwfl_report_end(dwfl, nullptr, nullptr);
    dwarf_index index(m);
    for (std::uint64_t pc = 0x10210; pc < 0x10250; pc += 3) (void)index.find(pc);
  } else {
    close(fd);
  }
  dwfl_end(dwfl);
  return 0;
}
