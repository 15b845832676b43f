#include "sched/report/thrown.h"

#include <cxxabi.h>
#include <unwind.h>

#include <algorithm>
#include <exception>
#include <new>
#include <typeinfo>

#include "sched/report/capture.h"
#include "sched/state.h"

namespace vole::rt::thrown {

#if defined(__GLIBCXX__)

// What the processor sees of a type_info.
struct type_words {
  const void* functions;
  const char* name;
};

extern "C" [[gnu::visibility("default")]] type_words
    _ZTIN4vole2v06detail11throw_probeE;  // thrown_type.S

namespace {

constexpr std::size_t kEntries = 64;  // a power of two

struct entry {
  atomic<std::uint32_t> busy{0};  // 1: somebody has the rest
  std::uint64_t id = 0;           // of the goroutine whose it is; 0: free
  bool caught = false;            // `stack` waits to be taken
  own_stack stack;
  const void* handed_on = nullptr;  // an exception of another goroutine's, and its stack
  own_stack others;
};
constinit entry stacks[kEntries];
static_assert(sizeof(std::exception_ptr) == sizeof(void*));

const G* this_g() noexcept {
  const M* const m = this_m();
  return m != nullptr ? m->curg : nullptr;
}

// The entry of this goroutine, while it looks at it. Nobody waits: who comes second has none.
class own_entry {
 public:
  own_entry() noexcept {
    const G* const g = this_g();
    if (g == nullptr) return;
    entry& e = stacks[g->id % kEntries];
    if (e.busy.exchange(1, seq_cst) != 0) return;
    e_ = &e;
    mine_ = e.id == g->id;
    if (e.id == 0 || !e.caught) e.id = g->id;  // what was handed on may never be asked for
    if (e.id != g->id) done();
    if (!mine_ && e_ != nullptr) e.handed_on = nullptr;
  }
  ~own_entry() {
    if (e_ != nullptr) done();
  }
  own_entry(const own_entry&) = delete;
  own_entry& operator=(const own_entry&) = delete;
  entry* get() const noexcept { return e_; }
  bool was_mine() const noexcept { return e_ != nullptr && mine_; }

 private:
  void done() noexcept {
    e_->busy.store(0, release);
    e_ = nullptr;
  }
  entry* e_ = nullptr;
  bool mine_ = false;
};

// Is it on its way from std::rethrow_exception()? The frames before are the unwinder's and ours.
bool is_rethrown(const own_stack& s) noexcept {
  for (std::size_t i = 0; i < std::min<std::size_t>(s.n, 8); ++i)
    if (_Unwind_FindEnclosingFunction(reinterpret_cast<void*>(s.at[i] - 1)) ==
        reinterpret_cast<void*>(&std::rethrow_exception))
      return true;
  return false;
}

class probe_type final : public std::type_info {
 public:
  probe_type() noexcept : std::type_info("") {}
  bool __do_catch(const std::type_info* type, void** object, unsigned) const override {
    if (*type == typeid(abi::__forced_unwind)) return false;
    own_stack here;
    here.take();
    const own_entry mine;
    entry* const e = mine.get();
    if (e == nullptr) return false;
    e->stack = e->handed_on == *object && is_rethrown(here) ? e->others : here;
    e->caught = true;
    e->handed_on = nullptr;
    return false;
  }
};

}  // namespace

void install() noexcept {
  alignas(probe_type) static constinit std::byte room[sizeof(probe_type)];
  static_assert(sizeof(probe_type) == sizeof(type_words));
  auto* const words = reinterpret_cast<type_words*>(::new (room) probe_type);
  _ZTIN4vole2v06detail11throw_probeE.functions = words->functions;
}

std::size_t take(std::uintptr_t* out, std::size_t most) noexcept {
  const own_entry mine;
  if (mine.get() == nullptr) return 0;
  entry& e = *mine.get();
  const std::size_t n = mine.was_mine() && e.caught ? std::min(e.stack.n, most) : 0;
  std::copy_n(e.stack.at, n, out);
  e.id = 0;
  e.caught = false;
  return n;
}

void hand_on(const std::exception_ptr& error, const std::uintptr_t* frames,
             std::size_t n) noexcept {
  const own_entry mine;
  entry* const e = mine.get();
  if (e == nullptr) return;
  e->others.n = std::min(n, kMostFrames);
  std::copy_n(frames, e->others.n, e->others.at);
  e->handed_on = n != 0 ? *reinterpret_cast<void* const*>(&error) : nullptr;
}

#else

void install() noexcept {}
std::size_t take(std::uintptr_t*, std::size_t) noexcept { return 0; }
void hand_on(const std::exception_ptr&, const std::uintptr_t*, std::size_t) noexcept {}

#endif

}  // namespace vole::rt::thrown
