#include "core_output.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "../refusal.h"

namespace vole_command::outside {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw refusal(what + ": " + std::strerror(errno));
}

struct descriptor {
  int fd;
  ~descriptor() { ::close(fd); }
};

}  // namespace

output_file::output_file(const std::string& path, how h)
    : path_(path),
      fd_(::open(path.c_str(), O_WRONLY | O_CLOEXEC | (h == fresh ? O_CREAT | O_TRUNC : 0), 0600)) {
  if (fd_ < 0) refuse("cannot write " + path_);
}

output_file::~output_file() { ::close(fd_); }

void output_file::write(std::uint64_t at, const void* from, std::size_t bytes) {
  const auto* next = static_cast<const char*>(from);
  while (bytes != 0) {
    const ssize_t n = ::pwrite(fd_, next, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) refuse("cannot write " + path_);
    next += n;
    at += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
}

void output_file::set_size(std::uint64_t bytes) {
  if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) refuse("cannot write " + path_);
}

unfinished_file::unfinished_file(const std::string& path)
    : path_(path), unfinished_(path + ".unfinished." + std::to_string(::getpid())) {
  struct stat what = {};
  if (::stat(path.c_str(), &what) == 0 && !S_ISREG(what.st_mode))
    throw refusal(path + " is there and is not a file");
}

unfinished_file::~unfinished_file() {
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

void unfinished_file::keep() {
  // ext4 writes all of a file to the disk before it replaces another: half a minute, for a core.
  ::unlink(path_.c_str());
  if (::rename(unfinished_.c_str(), path_.c_str()) != 0) refuse("cannot write " + path_);
  unfinished_.clear();
}

void copy_sparse(const std::string& from, const std::string& to) {
  const descriptor in{::open(from.c_str(), O_RDONLY | O_CLOEXEC)};
  if (in.fd < 0) refuse("cannot read " + from);
  struct stat what = {};
  if (::fstat(in.fd, &what) != 0) refuse("cannot read " + from);
  if (!S_ISREG(what.st_mode)) throw refusal(from + " is not a file");
  output_file out(to, output_file::fresh);
  std::vector<char> buffer(1 << 20);
  off_t at = 0;
  while ((at = ::lseek(in.fd, at, SEEK_DATA)) >= 0) {
    const off_t end = ::lseek(in.fd, at, SEEK_HOLE);
    if (end < 0) refuse("cannot read " + from);
    while (at < end) {
      const auto most = std::min<std::size_t>(buffer.size(), static_cast<std::size_t>(end - at));
      const ssize_t n = ::pread(in.fd, buffer.data(), most, at);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) refuse("cannot read " + from);
      if (n == 0) break;  // it has become shorter
      out.write(static_cast<std::uint64_t>(at), buffer.data(), static_cast<std::size_t>(n));
      at += n;
    }
    if (at < end) break;
  }
  if (at < 0 && errno != ENXIO) refuse("cannot read " + from);  // ENXIO: no data behind it
  out.set_size(static_cast<std::uint64_t>(what.st_size));
}

void put_note(std::string& notes, std::uint32_t type, const void* content, std::size_t bytes,
              const std::string& name) {
  const Elf64_Nhdr head = {static_cast<Elf64_Word>(name.size() + 1), static_cast<Elf64_Word>(bytes),
                           type};
  const auto pad = [&notes] { notes.resize((notes.size() + 3) / 4 * 4); };
  notes.append(reinterpret_cast<const char*>(&head), sizeof head);
  notes.append(name.c_str(), name.size() + 1);
  pad();
  notes.append(static_cast<const char*>(content), bytes);
  pad();
}

}  // namespace vole_command::outside
