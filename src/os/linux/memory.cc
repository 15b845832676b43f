#include <cerrno>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/race.h"
#include "os/os.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace vole::base {

void* map_pages(std::size_t bytes) noexcept {
  const race::unseen here;  // TSan takes a mapping for a write by who maps
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void unmap_pages(void* pages, std::size_t bytes) noexcept { munmap(pages, bytes); }

}  // namespace vole::base

namespace vole::os {

std::size_t page_size() noexcept { return getauxval(AT_PAGESZ); }

bool read_own_memory(std::uintptr_t address, std::uintptr_t* word) noexcept {
  const int before = errno;
  const iovec to{word, sizeof *word}, from{reinterpret_cast<void*>(address), sizeof *word};
  const ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  errno = before;
  return n == static_cast<ssize_t>(sizeof *word);
}

// munlock: after mlockall(MCL_FUTURE) the range would be filled with pages as soon as it
// becomes writable, and locked memory takes no guards.
std::byte* reserve(std::size_t bytes, const char* name) noexcept {
  const base::race::unseen here;
  constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const at = mmap(nullptr, bytes, PROT_NONE, kKind, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  munlock(at, bytes);
  madvise(at, bytes, MADV_NOHUGEPAGE);
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, bytes, name);  // for /proc/self/maps only
  return static_cast<std::byte*>(at);
}

void unreserve(std::byte* at, std::size_t bytes) noexcept { munmap(at, bytes); }

int make_writable(std::byte* at, std::size_t bytes) noexcept {
  munlock(at, bytes);  // a mlockall may have come since reserve
  return mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : errno;
}

int discard(std::byte* at, std::size_t bytes) noexcept {
  return madvise(at, bytes, MADV_DONTNEED) == 0 ? 0 : errno;
}

}  // namespace vole::os
