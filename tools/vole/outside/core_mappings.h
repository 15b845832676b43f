// The mappings of a process, and which of their pages belong into a core.
//
// Law    as the kernel does by default: memory that is the process's own, whole; of files that were
//        never written to, the first page only, which says what file it is; nothing that was marked
//        MADV_DONTDUMP, no device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vole_command::outside {

struct core_mapping {
  std::uint64_t from = 0, to = 0, offset = 0;
  bool readable = false, writable = false, executable = false, shared = false, dumped = true;
  std::uint64_t anonymous = 0;  // bytes of pages that are the process's own copy
  std::string path;             // "" or "[heap]" and the like: none

  bool is_file() const { return path.starts_with('/'); }
  std::uint64_t bytes_wanted() const;  // from the start of it
};

std::vector<core_mapping> core_mappings_of(int pid);

// Runs of pages in [from, to) that have been touched; all of it if the kernel does not tell.
struct page_run {
  std::uint64_t from, to;
};
std::vector<page_run> touched_pages(int pid, std::uint64_t from, std::uint64_t to);

}  // namespace vole_command::outside
