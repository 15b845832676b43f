// A core file: the memory of a process that has ended, its threads and what it had mapped.
//
// Who    target.cc; core_fuzz.cc, with nonsense.
// Law    a core that ends too early gives what is there, and what is not there cannot be read.
// Note   the kernel leaves out what it can find in files: read-only segments of programs. Modules
//        fill these in (add_file).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "elf_image.h"
#include "memory.h"
#include "registers.h"

namespace vole_command::outside {

struct mapping {
  std::uint64_t from, to, offset;  // offset: in the file, bytes
  std::string path;
  bool is_deleted = false;
  std::uint64_t inode = 0, device = 0;  // 0: not known
};

class core_file : public memory {
 public:
  core_file(bytes_view file, const std::string& what);
  using memory::read;
  void read(std::span<request> wanted) const override;

  const std::vector<thread_registers>& threads() const { return threads_; }
  const std::vector<mapping>& mappings() const { return mappings_; }  // of files
  std::uint64_t auxiliary(std::uint64_t type) const;                  // 0: not there
  int pid() const { return pid_; }
  bool is_cut() const { return is_cut_; }  // it ends before its headers say
  const elf_image& image() const { return image_; }

  // Memory that is not in the core, and constant in this file, is read from the file.
  void add_file(const elf_image* image, std::uint64_t from, std::uint64_t to, std::uint64_t bias);

 private:
  struct segment {
    std::uint64_t from, bytes;
    const std::byte* at;
  };
  struct filled_in {
    const elf_image* image;
    std::uint64_t from, to, bias;
  };
  void add_segment(const Elf64_Phdr& p);
  void read_note(const elf_note& n);
  void read_mappings(bytes_view content);
  bool read_one(const request& r) const;

  bytes_view file_;
  elf_image image_;
  std::vector<segment> segments_;  // sorted
  std::vector<filled_in> files_;
  std::vector<thread_registers> threads_;
  std::vector<mapping> mappings_;
  std::vector<Elf64_auxv_t> auxiliary_;
  int pid_ = 0;
  bool is_cut_ = false;
};

}  // namespace vole_command::outside
