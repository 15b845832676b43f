#include <link.h>

#include <cstdint>

#include "base/race.h"
#include "os/os.h"

namespace vole::os {
namespace {

int holds(dl_phdr_info* loaded, std::size_t, void* object) {
  const auto at = reinterpret_cast<std::uintptr_t>(object);
  for (int i = 0; i < loaded->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = loaded->dlpi_phdr[i];
    if (part.p_type == PT_LOAD && at - (loaded->dlpi_addr + part.p_vaddr) < part.p_memsz) return 1;
  }
  return 0;
}

}  // namespace

bool is_static(const void* object) noexcept {
  return dl_iterate_phdr(&holds, const_cast<void*>(object)) != 0;
}

#if defined(VOLE_RACES)
void unwatch_thread_locals() noexcept {
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, std::size_t, void*) {
        for (int i = 0; i < loaded->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = loaded->dlpi_phdr[i];
          if (part.p_type == PT_TLS && loaded->dlpi_tls_data != nullptr)
            base::race::not_shared(loaded->dlpi_tls_data, part.p_memsz);
        }
        return 0;
      },
      nullptr);
}
#else
void unwatch_thread_locals() noexcept {}
#endif

}  // namespace vole::os
