#include "root/root.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <new>

#include <vole/vole.h>

#include "gmp/g.h"
#include "gmp/status.h"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace vole::root {
namespace {

// Every note of this program, as a look from outside finds them: by its program headers.
const table* found_by_note() {
  const table* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& p = info->dlpi_phdr[i];
          if (p.p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(info->dlpi_addr + p.p_vaddr);
          const char* const end = at + p.p_memsz;
          const std::size_t align = p.p_align == 8 ? 8 : 4;
          const auto up = [align](std::size_t n) { return (n + align - 1) / align * align; };
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) n;
            std::memcpy(&n, at, sizeof n);
            const char* const name = at + sizeof n;
            const char* const content = at + up(sizeof n + n.n_namesz);
            if (n.n_type == kNoteType && n.n_namesz == sizeof kNoteName &&
                std::memcmp(name, kNoteName, sizeof kNoteName) == 0) {
              std::int64_t distance;
              std::memcpy(&distance, content, sizeof distance);
              *static_cast<const table**>(to) = reinterpret_cast<const table*>(content + distance);
            }
            at = content + up(n.n_descsz);
          }
        }
        return 0;
      },
      &found);
  return found;
}

// A program that has goroutines has the root, though it names it nowhere.
TEST(Root, IsFoundByItsNote) {
  vole::run([] {});
  ASSERT_NE(found_by_note(), nullptr);
  const table& t = *found_by_note();
  EXPECT_EQ(std::memcmp(t.magic, kMagic, sizeof kMagic), 0);
  EXPECT_EQ(t.version, kVersion);
  EXPECT_EQ(t.bytes, sizeof(table));
  EXPECT_EQ(t.pointer_bytes, 8);
  EXPECT_NE(t.g_slab, nullptr);
  EXPECT_NE(t.land, nullptr);
}

TEST(Root, FlagsAreWhereTheCompilerPutThem) {
  const table& t = *found_by_note();
  alignas(rt::G) unsigned char memory[sizeof(rt::G)] = {};
  auto* const g = new (memory) rt::G;
  EXPECT_EQ(memory[t.g.flags], 0);
  g->started = 1;
  EXPECT_EQ(memory[t.g.flags], t.g.started_flag);
  g->started = 0;
  g->locked = 1;
  EXPECT_EQ(memory[t.g.flags], t.g.locked_flag);
}

TEST(Root, NamesAreThoseOfTheLibrary) {
  const table& t = *found_by_note();
  for (unsigned i = 0; i < kStatuses; ++i)
    EXPECT_EQ(t.status_names[i], rt::name_of(static_cast<rt::g_status>(i)));
  ASSERT_EQ(t.reasons, unsigned{rt::kWaitReasons});
  for (unsigned i = 0; i < t.reasons; ++i)
    EXPECT_EQ(t.reason_names[i], rt::name_of(static_cast<rt::wait_reason>(i)));
}

}  // namespace
}  // namespace vole::root
