#include "core_mappings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "../refusal.h"

namespace vole_command::outside {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::string_view kDeleted = " (deleted)";

bool parse_head(const std::string& line, core_mapping* m) {
  char permissions[8] = "";
  int path = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*u %n", &m->from,
                  &m->to, permissions, &m->offset, &path) < 4)
    return false;
  const std::string p = permissions;
  if (p.size() < 4 || path == 0) return false;
  m->readable = p[0] == 'r';
  m->writable = p[1] == 'w';
  m->executable = p[2] == 'x';
  m->shared = p[3] == 's';
  m->path = line.substr(static_cast<std::size_t>(path));
  return true;
}

void parse_detail(const std::string& line, core_mapping& m) {
  std::uint64_t kib = 0;
  if (std::sscanf(line.c_str(), "Anonymous: %" SCNu64 " kB", &kib) == 1) m.anonymous = kib * 1024;
  if (!line.starts_with("VmFlags:")) return;
  const std::string flags = line.substr(8) + " ";
  if (flags.find(" dd ") != std::string::npos || flags.find(" io ") != std::string::npos)
    m.dumped = false;
}

}  // namespace

std::uint64_t core_mapping::bytes_wanted() const {
  if (!readable || !dumped || path == "[vvar]" || path == "[vsyscall]") return 0;
  if (!is_file()) return to - from;
  if (shared) return path.ends_with(kDeleted) ? to - from : 0;  // memory without a name
  if (anonymous != 0) return to - from;
  return offset == 0 ? std::min(to - from, kPage) : 0;
}

std::vector<core_mapping> core_mappings_of(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/smaps");
  std::vector<core_mapping> all;
  for (std::string line; std::getline(in, line);) {
    core_mapping m;
    // Details begin with a word and a colon, the head of a mapping with its addresses.
    const std::size_t colon = line.find(':');
    if (line.find('-') < colon && line.find('-') < line.find(' ') && parse_head(line, &m)) {
      all.push_back(std::move(m));
    } else if (!all.empty()) {
      parse_detail(line, all.back());
    }
  }
  if (all.empty())
    throw refusal("process " + std::to_string(pid) + " has ended, or may not be looked into");
  return all;
}

std::vector<page_run> touched_pages(int pid, std::uint64_t from, std::uint64_t to) {
  constexpr std::uint64_t kPresent = 1ull << 63, kSwapped = 1ull << 62,
                          kGuard = 1ull << 58;  // newer kernels
  const int fd =
      ::open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {{from, to}};
  std::vector<page_run> runs;
  std::vector<std::uint64_t> entries(1 << 16);
  for (std::uint64_t at = from; at < to;) {
    const std::uint64_t n = std::min<std::uint64_t>(entries.size(), (to - at) / kPage);
    const ssize_t got = ::pread(fd, entries.data(), n * 8, static_cast<off_t>(at / kPage * 8));
    if (got < 8) {  // it does not tell: all of the rest
      runs.push_back({at, to});
      break;
    }
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(got) / 8; ++i, at += kPage) {
      if ((entries[i] & (kPresent | kSwapped)) == 0 || (entries[i] & kGuard) != 0) continue;
      if (!runs.empty() && runs.back().to == at) {
        runs.back().to += kPage;
      } else {
        runs.push_back({at, at + kPage});
      }
    }
  }
  ::close(fd);
  return runs;
}

}  // namespace vole_command::outside
