#include "arch/history.h"

#if defined(VOLE_RACES)

#include "base/atomic.h"
#include "base/fatal.h"
#include "base/system.h"

extern "C" void __tsan_func_entry(void* call_pc);
extern "C" void __tsan_func_exit();

namespace vole::arch {
namespace {

constinit base::atomic<std::size_t> started{0};

}  // namespace

void history::begin(std::uint64_t id, const char* name, void* created_at) noexcept {
  __tsan_func_entry(created_at);  // for the report: TSan knows only the frames of instrumented code
  fiber_ = __tsan_create_fiber(0);
  __tsan_func_exit();
  base::sentence s;
  s << "goroutine " << id;
  if (name != nullptr) s << " " << name;
  char text[64] = {};
  s.view().copy(text, sizeof text - 1);
  __tsan_set_fiber_name(fiber_, text);
}

void history::end() noexcept {
  if (fiber_ == nullptr) return;
  __tsan_destroy_fiber(fiber_);
  fiber_ = nullptr;
  if (started_) started.fetch_sub(1, base::relaxed);
  started_ = false;
  forget(this, sizeof *this);  // the edges that these addresses stood for
}

std::size_t history::starts() noexcept {
  started_ = true;
  return started.fetch_add(1, base::relaxed) + 1;
}

// The kernel refuses to unmap a range that does not begin with a page. TSan, which stands in front of
// it, has by then let go of all it knew of the range, and that is what we came for.
void forget(const void* at, std::size_t bytes) noexcept {
  base::unmap_pages(static_cast<char*>(const_cast<void*>(at)) + 1, bytes);
}

}  // namespace vole::arch

#endif
