#include "core_file.h"

#include <sys/procfs.h>

#include <algorithm>
#include <cstring>

#include "../refusal.h"

namespace vole_command::outside {
namespace {

template <class T>
bool take(bytes_view& from, T* to) {
  if (from.size() < sizeof(T)) return false;
  std::memcpy(to, from.data(), sizeof(T));
  from = from.subspan(sizeof(T));
  return true;
}

}  // namespace

core_file::core_file(bytes_view file, const std::string& what) : file_(file), image_(file, what) {
  if (image_.type() != ET_CORE) throw refusal(what + " is not a core file");
  for (const Elf64_Phdr& p : image_.headers())
    if (p.p_type == PT_LOAD) add_segment(p);
  std::sort(segments_.begin(), segments_.end(),
            [](const segment& a, const segment& b) { return a.from < b.from; });
  image_.for_each_note([this](const elf_note& n) { read_note(n); });
  if (threads_.empty()) throw refusal(what + " is damaged: there are no threads in it");
}

void core_file::add_segment(const Elf64_Phdr& p) {
  if (p.p_filesz == 0 || p.p_vaddr > ~std::uint64_t{0} - p.p_filesz) return;
  std::uint64_t bytes = p.p_filesz;
  if (p.p_offset >= file_.size() || bytes > file_.size() - p.p_offset) {
    is_cut_ = true;
    bytes = p.p_offset < file_.size() ? file_.size() - p.p_offset : 0;
  }
  if (bytes != 0) segments_.push_back({p.p_vaddr, bytes, file_.data() + p.p_offset});
}

void core_file::read_note(const elf_note& n) {
  if (n.name != "CORE") return;
  bytes_view content = n.content;
  if (n.type == NT_PRSTATUS) {
    elf_prstatus status;
    if (!take(content, &status)) return;
    static_assert(sizeof(user_regs_struct) == sizeof status.pr_reg);
    user_regs_struct u;
    std::memcpy(&u, &status.pr_reg, sizeof u);
    threads_.push_back(from_user(status.pr_pid, u));
  } else if (n.type == NT_PRPSINFO) {
    elf_prpsinfo info;
    if (take(content, &info)) pid_ = info.pr_pid;
  } else if (n.type == NT_AUXV) {
    for (Elf64_auxv_t a; take(content, &a) && a.a_type != AT_NULL;) auxiliary_.push_back(a);
  } else if (n.type == NT_FILE) {
    read_mappings(content);
  }
}

// How many, the size of a page, then {from, to, page in the file} of each, then their names.
void core_file::read_mappings(bytes_view content) {
  std::uint64_t n, page;
  if (!take(content, &n) || !take(content, &page) || n > content.size() / 24) return;
  bytes_view names = content.subspan(n * 24);
  for (std::uint64_t i = 0; i < n; ++i) {
    mapping m{};
    if (!take(content, &m.from) || !take(content, &m.to) || !take(content, &m.offset)) return;
    m.offset *= page;
    const auto* const text = reinterpret_cast<const char*>(names.data());
    const std::size_t length = strnlen(text, names.size());
    if (length == names.size()) return;
    m.path.assign(text, length);
    names = names.subspan(length + 1);
    mappings_.push_back(std::move(m));
  }
}

std::uint64_t core_file::auxiliary(std::uint64_t type) const {
  for (const Elf64_auxv_t& a : auxiliary_)
    if (a.a_type == type) return a.a_un.a_val;
  return 0;
}

void core_file::add_file(const elf_image* image, std::uint64_t from, std::uint64_t to,
                         std::uint64_t bias) {
  files_.push_back({image, from, to, bias});
}

bool core_file::read_one(const request& r) const {
  const auto behind =
      std::upper_bound(segments_.begin(), segments_.end(), r.from,
                       [](std::uint64_t a, const segment& s) { return a < s.from; });
  if (behind != segments_.begin()) {
    const segment& s = *std::prev(behind);
    const std::uint64_t skip = r.from - s.from;
    if (skip < s.bytes && r.bytes <= s.bytes - skip) {
      std::memcpy(r.to, s.at + skip, r.bytes);
      return true;
    }
  }
  for (const filled_in& f : files_)
    if (r.from >= f.from && r.from < f.to)
      return f.image->read_constant(r.from - f.bias, r.to, r.bytes);
  return false;
}

void core_file::read(std::span<request> wanted) const {
  for (request& r : wanted) r.ok = read_one(r);
}

}  // namespace vole_command::outside
