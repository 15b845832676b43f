#include "elf_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "../refusal.h"
#include "registers.h"

namespace vole_command::outside {

elf_image::elf_image(bytes_view file, const std::string& what) : file_(file) {
  if (file.size() < sizeof header_) throw refusal(what + " is not an ELF file");
  std::memcpy(&header_, file.data(), sizeof header_);
  if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0)
    throw refusal(what + " is not an ELF file");
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_machine != kMachine)
    throw refusal(what + " is of another kind of processor");
  std::uint64_t n = header_.e_phnum;
  if (n == PN_XNUM) {  // the number is in the first section header
    const bytes_view first = part(header_.e_shoff, sizeof(Elf64_Shdr));
    Elf64_Shdr s{};
    if (!first.empty()) std::memcpy(&s, first.data(), sizeof s);
    n = s.sh_info;
  }
  const bytes_view table = part(header_.e_phoff, n * sizeof(Elf64_Phdr));
  if (n == 0 || header_.e_phentsize != sizeof(Elf64_Phdr) || table.empty())
    throw refusal(what + " is damaged: it has no program headers");
  headers_.resize(n);
  std::memcpy(headers_.data(), table.data(), table.size());
}

bytes_view elf_image::part(std::uint64_t offset, std::uint64_t size) const {
  if (offset > file_.size() || size > file_.size() - offset) return {};
  return file_.subspan(offset, size);
}

void for_each_note(bytes_view notes, std::uint64_t address, std::uint64_t align,
                   const std::function<void(const elf_note&)>& fn) {
  const std::uint64_t step = align == 8 ? 8 : 4;
  const auto up = [step](std::uint64_t n) { return (n + step - 1) / step * step; };
  for (std::uint64_t at = 0; notes.size() - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr h;
    std::memcpy(&h, notes.data() + at, sizeof h);
    const std::uint64_t name = at + sizeof h, content = at + up(sizeof h + h.n_namesz);
    if (content > notes.size() || h.n_descsz > notes.size() - content) return;
    std::string_view text(reinterpret_cast<const char*>(notes.data() + name), h.n_namesz);
    if (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    fn({text, h.n_type, notes.subspan(content, h.n_descsz), address + content});
    const std::uint64_t next = content + up(h.n_descsz);
    if (next > notes.size()) return;
    at = next;
  }
}

void elf_image::for_each_note(const std::function<void(const elf_note&)>& fn) const {
  for (const Elf64_Phdr& p : headers_)
    if (p.p_type == PT_NOTE)
      outside::for_each_note(part(p.p_offset, p.p_filesz), p.p_vaddr, p.p_align, fn);
}

bytes_view elf_image::build_id() const {
  bytes_view found;
  for_each_note([&found](const elf_note& n) {
    if (n.type == NT_GNU_BUILD_ID && n.name == "GNU") found = n.content;
  });
  return found;
}

bool elf_image::read_constant(std::uint64_t address, void* to, std::uint64_t size) const {
  for (const Elf64_Phdr& p : headers_) {
    if (p.p_type != PT_LOAD || (p.p_flags & PF_W) != 0 || address < p.p_vaddr ||
        address - p.p_vaddr > p.p_filesz || size > p.p_filesz - (address - p.p_vaddr))
      continue;
    const bytes_view found = part(p.p_offset + (address - p.p_vaddr), size);
    if (found.size() != size) return false;
    std::memcpy(to, found.data(), size);
    return true;
  }
  return false;
}

std::uint64_t elf_image::bias(std::uint64_t from) const {
  for (const Elf64_Phdr& p : headers_)
    if (p.p_type == PT_LOAD) return from - (p.p_vaddr - p.p_offset);
  return from;
}

namespace {

extern "C" void on_shrunk_file(int) {
  constexpr char kSentence[] = "vole: a file became shorter while it was read\n";
  (void)!write(STDERR_FILENO, kSentence, sizeof kSentence - 1);
  _exit(kRefused);
}

// libelf maps the same files: what it touches ends here, too.
void expect_shrunk_files() {
  struct sigaction action {};
  action.sa_handler = &on_shrunk_file;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

mapped_file::mapped_file(const std::string& path)
    : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)), path_(path) {
  if (fd_ < 0) throw refusal("cannot open " + path + ": " + std::strerror(errno));
  map();
}

mapped_file::mapped_file(int fd, std::string path) : fd_(fd), path_(std::move(path)) { map(); }

void mapped_file::map() {
  struct stat s {};
  if (fstat(fd_, &s) != 0 || !S_ISREG(s.st_mode)) {
    close(std::exchange(fd_, -1));
    throw refusal(path_ + " is not a file");
  }
  if (s.st_size == 0) return;
  expect_shrunk_files();
  void* const at =
      mmap(nullptr, static_cast<std::size_t>(s.st_size), PROT_READ, MAP_PRIVATE, fd_, 0);
  if (at == MAP_FAILED) {
    const int error = errno;
    close(std::exchange(fd_, -1));
    throw refusal("cannot read " + path_ + ": " + std::strerror(error));
  }
  at_ = static_cast<const std::byte*>(at);
  size_ = static_cast<std::size_t>(s.st_size);
}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(at_, other.at_);
  std::swap(size_, other.size_);
  return *this;
}

mapped_file::~mapped_file() {
  if (at_ != nullptr) munmap(const_cast<std::byte*>(at_), size_);
  if (fd_ >= 0) close(fd_);
}

}  // namespace vole_command::outside
