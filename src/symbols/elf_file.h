// The file of a module, mapped, and its sections.
//
// Where  no malloc: the file is mapped while it is read. Signal-safe.
// Law    never reads past the file: one that is damaged has no sections.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "os/program.h"

namespace vole::symbols {

class mapped_file {
 public:
  explicit mapped_file(const char* path) noexcept : bytes_(os::map_file(path)) {}
  ~mapped_file() { os::unmap_file(bytes_); }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  std::string_view bytes() const noexcept { return bytes_; }

 private:
  const std::string_view bytes_;
};

template <class T>
bool read_at(std::string_view file, std::uint64_t at, T* out) noexcept {
  if (at > file.size() || file.size() - at < sizeof(T)) return false;
  std::memcpy(out, file.data() + at, sizeof(T));
  return true;
}

inline std::string_view part(std::string_view file, const Elf64_Shdr& s) noexcept {
  if (s.sh_type == SHT_NOBITS || (s.sh_flags & SHF_COMPRESSED) != 0) return {};
  if (s.sh_offset > file.size() || s.sh_size > file.size() - s.sh_offset) return {};
  return file.substr(s.sh_offset, s.sh_size);
}

// fn(section, name)
template <class Fn>
void each_section(std::string_view file, Fn&& fn) noexcept {
  Elf64_Ehdr head;
  if (!read_at(file, 0, &head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr))
    return;
  const auto section = [&](std::uint64_t i, Elf64_Shdr* to) noexcept {
    return read_at(file, head.e_shoff + i * sizeof(Elf64_Shdr), to);
  };
  Elf64_Shdr one;
  if (!section(head.e_shstrndx, &one)) return;
  const std::string_view names = part(file, one);
  for (std::uint64_t i = 0; i < head.e_shnum && section(i, &one); ++i) {
    if (one.sh_name >= names.size()) continue;
    const std::string_view rest = names.substr(one.sh_name);
    fn(one, rest.substr(0, rest.find('\0')));
  }
}

}  // namespace vole::symbols
