// Alternate signal stacks: [guard page][stack][what the thread had before].
#include <csignal>
#include <new>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "os/os.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace vole::os {
namespace {

constexpr std::size_t kLeast = 256 * 1024;  // the C++ library takes 100 for the longest names

struct layout {
  std::size_t guard, stack, total;
};

// The kernel's frame alone may be large (AVX-512, AMX, SVE): four of them must fit.
layout measure() noexcept {
  const std::size_t page = page_size();
  const std::size_t frames = 4 * getauxval(AT_MINSIGSTKSZ);
  const std::size_t stack = ((frames < kLeast ? kLeast : frames) + page - 1) / page * page;
  return {page, stack, page + stack + page};
}

stack_t* previous(std::byte* memory, const layout& l) noexcept {
  return reinterpret_cast<stack_t*>(memory + l.guard + l.stack);
}

}  // namespace

bool make_alternate_stack(std::byte** memory) noexcept {
  const layout l = measure();
  auto* const at = static_cast<std::byte*>(base::map_pages(l.total));
  if (at == nullptr) return false;
  stack_t mine{};
  mine.ss_sp = at + l.guard;
  mine.ss_size = l.stack;
  if (mprotect(at, l.guard, PROT_NONE) != 0 || sigaltstack(&mine, previous(at, l)) != 0) {
    base::unmap_pages(at, l.total);
    return false;
  }
  *memory = at;
  return true;
}

void drop_alternate_stack(std::byte* memory) noexcept {
  const layout l = measure();
  stack_t now{};
  sigaltstack(nullptr, &now);
  if (now.ss_sp == memory + l.guard) {
    stack_t back = *previous(memory, l);
    if ((back.ss_flags & SS_DISABLE) != 0) back = stack_t{nullptr, SS_DISABLE, 0};
    sigaltstack(&back, nullptr);
  }
  base::unmap_pages(memory, l.total);
}

bool in_alternate_stack(const std::byte* memory, const void* address) noexcept {
  const layout l = measure();
  const auto* const at = static_cast<const std::byte*>(address);
  return memory != nullptr && at >= memory + l.guard && at < memory + l.guard + l.stack;
}

}  // namespace vole::os
