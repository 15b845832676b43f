#include <sys/uio.h>

#include <algorithm>

#include "memory.h"

namespace vole_command::outside {
namespace {

constexpr std::size_t kAtOnce = 512;  // the kernel takes 1024

// Reads the first requests of `wanted`, up to kAtOnce. Returns how many were dealt with: at least
// one, if only by finding that it cannot be read.
std::size_t read_some(int pid, std::span<request> wanted) {
  iovec mine[kAtOnce] = {}, theirs[kAtOnce] = {};
  const std::size_t n = std::min(wanted.size(), kAtOnce);
  for (std::size_t i = 0; i < n; ++i) {
    mine[i] = {wanted[i].to, wanted[i].bytes};
    theirs[i] = {reinterpret_cast<void*>(wanted[i].from), wanted[i].bytes};
  }
  const ssize_t got = process_vm_readv(pid, mine, n, theirs, n, 0);
  std::uint64_t left = got > 0 ? static_cast<std::uint64_t>(got) : 0;
  std::size_t done = 0;
  for (; done < n && wanted[done].bytes <= left; ++done) {
    left -= wanted[done].bytes;
    wanted[done].ok = true;
  }
  return done < n ? done + 1 : n;
}

}  // namespace

void live_memory::read(std::span<request> wanted) const {
  while (!wanted.empty()) {
    for (request& r : wanted.first(std::min(wanted.size(), kAtOnce))) r.ok = false;
    wanted = wanted.subspan(read_some(pid_, wanted));
  }
}

}  // namespace vole_command::outside
