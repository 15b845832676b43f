// A target that lives.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "../refusal.h"
#include "proc.h"
#include "target.h"

namespace vole_command::outside {
namespace {

[[noreturn]] void not_permitted(int pid) {
  throw refusal("not permitted to look into process " + std::to_string(pid) +
                ": it is another user's, or kernel.yama.ptrace_scope forbids it; root may");
}

[[noreturn]] void gone(int pid) {
  throw refusal("there is no process " + std::to_string(pid) + ", or it has just ended");
}

bool parse_mapping(const std::string& line, mapping* m) {
  char permissions[8];
  unsigned major, minor;
  int path = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
                  &m->from, &m->to, permissions, &m->offset, &major, &minor, &m->inode, &path) < 7)
    return false;
  m->device = makedev(major, minor);
  m->path = line.substr(static_cast<std::size_t>(path));
  constexpr std::string_view kDeleted = " (deleted)";
  if (m->path.ends_with(kDeleted)) {
    m->path.resize(m->path.size() - kDeleted.size());
    m->is_deleted = true;
  }
  return true;
}

std::vector<mapping> mappings_of(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/maps");
  if (!in) errno == ENOENT ? gone(pid) : not_permitted(pid);
  std::vector<mapping> all;
  for (std::string line; std::getline(in, line);)
    if (mapping m; parse_mapping(line, &m)) all.push_back(std::move(m));
  return all;
}

std::uint64_t auxiliary_of(int pid, std::uint64_t type) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/auxv", std::ios::binary);
  for (Elf64_auxv_t a; in.read(reinterpret_cast<char*>(&a), sizeof a) && a.a_type != AT_NULL;)
    if (a.a_type == type) return a.a_un.a_val;
  return 0;
}

void check_permission(int pid, std::uint64_t readable_at) {
  char byte;
  const iovec mine{&byte, 1}, theirs{reinterpret_cast<void*>(readable_at), 1};
  if (process_vm_readv(pid, &mine, 1, &theirs, 1, 0) == 1) return;
  if (errno == ESRCH) gone(pid);
  if (errno == EPERM || errno == EACCES) not_permitted(pid);
}

bool is_same_file(const mapped_file& file, const mapping& m) {
  struct stat s {};
  return fstat(file.fd(), &s) == 0 && s.st_ino == m.inode;
}

}  // namespace

// In the order of preference: what the kernel knows as the program; the path, if it still leads to
// the mapped file; the mapping itself, for which the kernel asks a privilege.
void target::open_of_process(module& m, const mapping& first) {
  const std::string proc = "/proc/" + std::to_string(pid_);
  char range[64];
  std::snprintf(range, sizeof range, "/map_files/%" PRIx64 "-%" PRIx64, first.from, first.to);
  const std::string tries[] = {m.is_program ? proc + "/exe" : std::string(),
                               first.is_deleted ? std::string() : proc + "/root" + m.path,
                               first.is_deleted ? std::string() : m.path, proc + range};
  for (const std::string& path : tries) {
    if (path.empty()) continue;
    try {
      mapped_file file(path);
      if (!m.is_program && !is_same_file(file, first)) continue;
      take_image(m, std::move(file));
      return;
    } catch (const refusal&) {
      if (m.is_program && path.ends_with("/exe") && errno == EACCES) not_permitted(pid_);
    }
  }
}

std::unique_ptr<target> target::of_process(int asked) {
  const int pid = process_of(asked);
  if (pid == 0) gone(asked);
  std::unique_ptr<target> t(new target);
  t->pid_ = pid;
  t->what_ = "process " + std::to_string(pid);
  t->memory_ = std::make_unique<live_memory>(pid);
  std::vector<mapping> all = mappings_of(pid);
  if (all.empty())
    throw refusal(t->what_ + " has no memory of its own: it has ended, or is the kernel's");
  check_permission(pid, all.front().from);
  std::uint64_t vdso = 0;
  for (const mapping& m : all)
    if (m.path == "[vdso]") vdso = m.from;
  t->add_modules(std::move(all), auxiliary_of(pid, AT_PHDR));
  for (std::size_t i = 0; i < t->modules_.size(); ++i)
    t->open_of_process(t->modules_[i], t->first_of_[i]);
  t->add_vdso(vdso);
  return t;
}

}  // namespace vole_command::outside
