// What is looked at: a process or a core file, as memory and modules. One code reads both.
//
// Who    dump, top, core.
// Law    never written to. Opening stops nobody: see pause.h for that.
// Note   a module's file is the one that the process has mapped, even if another lies at its path
//        now or none does; where that cannot be had, the module has no file.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core_file.h"
#include "elf_image.h"
#include "memory.h"

namespace vole_command::outside {

struct module {
  std::string path;  // as the target knows it
  std::uint64_t from = 0, to = 0, bias = 0;
  bool is_program = false;
  mapped_file file;
  std::vector<std::byte> copy;  // of what has no file: the kernel's own module (vdso)
  elf_image image;
  bool has_image = false;

  std::string file_name() const { return path.substr(path.rfind('/') + 1); }
};

class target {
 public:
  // Refuses, with a sentence, what is not there, is not permitted or is damaged.
  static std::unique_ptr<target> of_process(int pid);
  static std::unique_ptr<target> of_core(const std::string& core, const std::string& program);
  // Without modules: for tests of what reads memory. The bytes must outlive it.
  static std::unique_ptr<target> of_core_bytes(bytes_view bytes, const std::string& what);

  const memory& mem() const { return *memory_; }
  const std::deque<module>& modules() const { return modules_; }
  const module* module_at(std::uint64_t address) const;
  int pid() const { return pid_; }                 // 0: a core
  const core_file* core() const { return core_; }  // null: a process
  std::string what() const { return what_; }       // "process 7", "core.7": for sentences

 private:
  target() = default;
  void add_modules(std::vector<mapping> mappings, std::uint64_t program_at);
  void add_vdso(std::uint64_t at);
  void open_of_process(module& m, const mapping& first);
  void open_of_core(module& m, const std::string& program);
  bool take_image(module& m, mapped_file file);

  std::string what_;
  int pid_ = 0;
  mapped_file core_bytes_;
  std::unique_ptr<memory> memory_;
  core_file* core_ = nullptr;
  std::deque<module> modules_;     // stays where it is: core_ points into it
  std::vector<mapping> first_of_;  // of each module: what its file is known by
};

}  // namespace vole_command::outside
