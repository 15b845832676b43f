// A core file that is being written.
//
// Law    what is written is there, or a refusal says why not. The file appears under its name when
//        it is whole (`unfinished_file`), and nobody but its owner may read it: it holds memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vole_command::outside {

class output_file {
 public:
  enum how { fresh, existing };
  output_file(const std::string& path, how h);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  void write(std::uint64_t at, const void* from, std::size_t bytes);
  void set_size(std::uint64_t bytes);
  int fd() const { return fd_; }

 private:
  std::string path_;
  int fd_;
};

// A name beside `path`; what lies there goes to `path` by `keep`, or is removed.
class unfinished_file {
 public:
  explicit unfinished_file(const std::string& path);
  ~unfinished_file();
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;

  const std::string& path() const { return unfinished_; }
  void keep();

 private:
  std::string path_, unfinished_;
};

// A copy with the holes of the original.
void copy_sparse(const std::string& from, const std::string& to);

// Appends a note of the name "CORE", or another.
void put_note(std::string& notes, std::uint32_t type, const void* content, std::size_t bytes,
              const std::string& name = "CORE");

}  // namespace vole_command::outside
