// A small core, made by hand: a root, a G slab with three goroutines, one of them on a thread, an M
// slab, one P. For tests of what reads cores; see core_reader_test.cc and core_fuzz.cc.
#pragma once

#include <elf.h>
#include <sys/procfs.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "outside/registers.h"
#include "root/root.h"

namespace synthetic {

inline constexpr std::uint64_t kBase = 0x100000, kRoot = kBase, kSched = kBase + 0x2000,
                               kSlabs = kBase + 0x3000, kChunks = kBase + 0x4000,
                               kP = kBase + 0x7000, kStack = kBase + 0x8000, kName = kBase + 0x9000,
                               kBytes = 0xa000;
inline constexpr std::uint64_t kNames = 3;

class memory_image {
 public:
  template <class T>
  void put(std::uint64_t at, const T& value) {
    std::memcpy(bytes.data() + (at - kBase), &value, sizeof value);
  }
  void put64(std::uint64_t at, std::uint64_t value) { put(at, value); }
  std::vector<char> bytes = std::vector<char>(kBytes);
};

inline vole::root::table table() {
  using vole::root::kMagic;
  vole::root::table t{};
  std::memcpy(t.magic, kMagic, sizeof kMagic);
  t.version = vole::root::kVersion;
  t.bytes = sizeof t;
  t.machine = vole_command::outside::kMachine;
  t.pointer_bytes = 8;
  const auto at = [](std::uint64_t a) { return reinterpret_cast<const void*>(a); };
  t.g_slab = at(kSlabs);
  t.m_slab = at(kSlabs + 64);
  t.p_slab = at(kSlabs + 128);
  t.sched = at(kSched);
  t.slab = {0, 8, 0, 8, 64, 1 << 20};
  t.g = {256, 8, 9, 10, 1, 2, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 8, 16};
  t.m = {256, 0, 8, 16, 24, 32, 40, 48, 49, 50, 51, 52, 56, 64, 72, 80};
  t.p = {256, 0, 4, 8, 16, 24, 32, 36, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112};
  t.sched_at = {256, 128, 8, 0, 4, 8, 16, 24, 28, 32, 36, 40, 48};
  t.reasons = 2;
  std::strcpy(t.status_names[4], "waiting");
  std::strcpy(t.reason_names[1], "tea");
  return t;
}

inline void put_goroutine(memory_image& m, int i, std::uint8_t status, bool started) {
  const std::uint64_t g = kChunks + 64 + static_cast<std::uint64_t>(i) * 256;
  m.put(g + 8, status);
  m.put(g + 9, std::uint8_t{1});
  m.put(g + 10, static_cast<std::uint8_t>(started ? 1 : 0));
  m.put64(g + 16, kStack + 0x800);
  m.put64(g + 24, 5);
  m.put64(g + 32, kStack + static_cast<std::uint64_t>(i) * 0x1000);
  m.put(g + 40, std::uint32_t{0x1000});
  m.put64(g + 56, static_cast<std::uint64_t>(i) + 1);
  m.put64(g + 88, kName);
}

inline memory_image memory() {
  memory_image m;
  m.put(kRoot, table());
  m.put(kSched, std::uint32_t{1});
  m.put64(kSched + 128, kP);
  m.put64(kSched + 48, 1000);
  m.put64(kSlabs, 256), m.put64(kSlabs + 8, kChunks);
  m.put64(kSlabs + 64, 256), m.put64(kSlabs + 72, kChunks + 0x1000);
  m.put64(kChunks + 8, 3);
  put_goroutine(m, 0, 4, true);
  put_goroutine(m, 1, 1, false);
  put_goroutine(m, 2, 5, false);
  m.put64(kChunks + 0x1000 + 8, 1);
  const std::uint64_t machine = kChunks + 0x1000 + 64;
  m.put64(machine + 24, kChunks + 64);
  m.put(machine + 48, std::uint8_t{1});
  m.put64(machine + 80, 7);
  std::memcpy(m.bytes.data() + (kName + 8 - kBase), "drinker", 8);
  return m;
}

template <class T>
void append(std::vector<char>& to, const T& value) {
  const auto* const at = reinterpret_cast<const char*>(&value);
  to.insert(to.end(), at, at + sizeof value);
}

inline void append_note(std::vector<char>& to, std::uint32_t type, const void* content,
                        std::size_t bytes) {
  append(to, Elf64_Nhdr{5, static_cast<std::uint32_t>(bytes), type});
  to.insert(to.end(), {'C', 'O', 'R', 'E', 0, 0, 0, 0});
  const auto* const at = static_cast<const char*>(content);
  to.insert(to.end(), at, at + bytes);
  while (to.size() % 4 != 0) to.push_back(0);
}

inline std::vector<char> core() {
  std::vector<char> notes;
  elf_prstatus status{};
  status.pr_pid = 7;
  append_note(notes, NT_PRSTATUS, &status, sizeof status);
  const std::uint64_t files[] = {1, 4096, kBase, kBase + kBytes, 0};
  std::vector<char> mapped;
  append(mapped, files);
  for (const char c : std::string_view("/bin/x", 7)) mapped.push_back(c);
  append_note(notes, NT_FILE, mapped.data(), mapped.size());
  const Elf64_auxv_t auxiliary[] = {{AT_PHDR, {kBase + 64}}, {AT_NULL, {0}}};
  append_note(notes, NT_AUXV, auxiliary, sizeof auxiliary);

  const memory_image m = memory();
  constexpr std::uint64_t kHead = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  Elf64_Ehdr h{};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64;
  h.e_ident[EI_DATA] = ELFDATA2LSB;
  h.e_type = ET_CORE;
  h.e_machine = vole_command::outside::kMachine;
  h.e_phoff = sizeof h;
  h.e_phentsize = sizeof(Elf64_Phdr);
  h.e_phnum = 2;
  std::vector<char> all;
  append(all, h);
  append(all, Elf64_Phdr{PT_NOTE, 0, kHead, 0, 0, notes.size(), 0, 4});
  append(all, Elf64_Phdr{PT_LOAD, PF_R | PF_W, kHead + notes.size(), kBase, 0, m.bytes.size(),
                         m.bytes.size(), 4096});
  all.insert(all.end(), notes.begin(), notes.end());
  all.insert(all.end(), m.bytes.begin(), m.bytes.end());
  return all;
}

}  // namespace synthetic
