// An ELF file in memory, read with suspicion: program headers, notes, loaded bytes.
//
// Who    cores and modules. libelf and libdw look at modules as well, for tables and names; cores
//        are read by this alone.
// Law    no byte outside the file is touched, whatever the file says.
// Proof  tests/tools/core_fuzz.cc
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vole_command::outside {

using bytes_view = std::span<const std::byte>;

struct elf_note {
  std::string_view name;  // without its end mark
  std::uint32_t type;
  bytes_view content;
  std::uint64_t address;  // of the content, where the file says it is loaded; 0: not known
};

class elf_image {
 public:
  elf_image() = default;
  // Keeps a view of the bytes. A file that is none of ours (not ELF, 32 bits, another processor's)
  // is a refusal, which begins with `what`.
  elf_image(bytes_view file, const std::string& what);

  std::uint16_t type() const { return header_.e_type; }
  std::span<const Elf64_Phdr> headers() const { return headers_; }
  bytes_view part(std::uint64_t offset, std::uint64_t size) const;  // empty: not all of it is there
  void for_each_note(const std::function<void(const elf_note&)>& fn) const;
  bytes_view build_id() const;  // empty: it has none
  // Bytes of a loaded segment that is not writable, by the file's own addresses.
  bool read_constant(std::uint64_t address, void* to, std::uint64_t size) const;
  // Where the file was loaded, if its first bytes are at `from`: what to add to its addresses.
  std::uint64_t bias(std::uint64_t from) const;

 private:
  bytes_view file_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> headers_;
};

// The notes in these bytes.
void for_each_note(bytes_view notes, std::uint64_t address, std::uint64_t align,
                   const std::function<void(const elf_note&)>& fn);

// A file, mapped. Refuses what cannot be opened, with a sentence. If somebody makes it shorter while
// it is read, the kernel sends SIGBUS: the command says so and ends with status 2.
class mapped_file {
 public:
  mapped_file() = default;
  explicit mapped_file(const std::string& path);
  mapped_file(int fd, std::string path);  // takes the descriptor
  ~mapped_file();
  mapped_file(mapped_file&& other) noexcept { *this = static_cast<mapped_file&&>(other); }
  mapped_file& operator=(mapped_file&& other) noexcept;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  bytes_view bytes() const { return {at_, size_}; }

 private:
  void map();
  int fd_ = -1;
  std::string path_;
  const std::byte* at_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace vole_command::outside
