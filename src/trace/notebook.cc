#include "trace/notebook.h"

#include <algorithm>

#include "arch/context.h"
#include "base/lock.h"
#include "base/system.h"
#include "symbols/functions.h"
#include "trace/names.h"

namespace vole::rt::trace {
namespace {

// ── notebooks ── kept for the life of the process
constinit base::lock<lock_rank::chunks> shelf_lock;
constinit notebook* shelf = nullptr;  // under shelf_lock

// ── vole's functions ── written once, under `learning`
struct own_function {
  std::uintptr_t from, to;
  bool weak;
};
struct own_functions {
  own_function* at = nullptr;
  std::size_t n = 0, room = 0;
};
constinit own_functions own;
constinit atomic<std::uint32_t> learnt{0};  // 0: not yet; 1: somebody is at it; 2: done

// The linker's names of namespace vole, of what is local to its functions, and of its C functions.
bool is_own_name(std::string_view name) noexcept {
  for (const char* const begin : {"_ZN4vole", "_ZNK4vole", "_ZZN4vole", "_ZZNK4vole", "vole_"})
    if (name.starts_with(begin)) return true;
  return false;
}

void count(const symbols::function& f, void* arg) noexcept {
  if (is_own_name(f.name)) ++*static_cast<std::size_t*>(arg);
}
void keep(const symbols::function& f, void*) noexcept {
  if (is_own_name(f.name) && own.n < own.room) own.at[own.n++] = {f.from, f.to, f.weak};
}

own_code look_up(std::uintptr_t return_address) noexcept {
  const std::uintptr_t pc = return_address - 1;
  const own_function *const begin = own.at, *const end = begin + own.n;
  const own_function* const f = std::upper_bound(
      begin, end, pc, [](std::uintptr_t x, const own_function& y) { return x < y.from; });
  if (f == begin || pc >= f[-1].to) return own_code::no;
  return f[-1].weak ? own_code::instantiated : own_code::compiled;
}

own_code whose(notebook& n, std::uintptr_t pc) noexcept {
  notebook::code& c = n.codes[(pc ^ pc >> 9) % notebook::kCodes];
  if (c.pc != pc) c = {pc, static_cast<std::uint64_t>(look_up(pc))};
  return static_cast<own_code>(c.own);
}

// Through vole's own frames, which have records. What it ends at may be a function that has none.
arch::frame out_of_library(notebook& n, const G& g, arch::frame f) noexcept {
  const std::byte* const top = g.stack.lo + g.stack.bytes;
  while (f.pc != 0 && whose(n, f.pc) == own_code::compiled) f = arch::caller_of(f, g.stack.lo, top);
  return f;
}

// By the unwind tables: whatever they were compiled with.
std::size_t walk_outside(notebook& n, walk::cursor c, const G& g, std::uintptr_t* out,
                         std::size_t most) noexcept {
  if (n.rows == nullptr) n.rows = static_cast<walk::row_cache*>(map_pages(sizeof(walk::row_cache)));
  const auto from = reinterpret_cast<std::uintptr_t>(g.stack.lo);
  const walk::memory stack{from, from + g.stack.bytes};
  std::uintptr_t last = 0;  // vole's by name, but what the program gave it may be inlined there
  std::size_t found = 0;
  for (int i = 0; i < 64 && found < most && walk::step(c, stack, n.rows); ++i) {
    const own_code whose_is = whose(n, c.pc);
    if (whose_is == own_code::no) out[found++] = c.pc;
    if (whose_is == own_code::instantiated) last = c.pc;
  }
  if (found == 0 && last != 0) out[found++] = last;
  return found;
}

}  // namespace

notebook* take_notebook() noexcept {
  {
    holding hold(shelf_lock);
    if (notebook* const n = shelf) {
      shelf = n->next;
      for (notebook::entry& e : n->sites) e = {};  // another's numbers, perhaps of this generation
      for (notebook::entry& e : n->strings) e = {};
      return n;
    }
  }
  return static_cast<notebook*>(map_pages(sizeof(notebook)));
}

void put_notebook(notebook* n) noexcept {
  holding hold(shelf_lock);
  n->next = shelf;
  shelf = n;
}

void free_shelf_lock() noexcept { shelf_lock.word()->store(0, relaxed); }

void learn_own_code() noexcept {
  std::uint32_t none = 0;
  if (!learnt.compare_exchange_strong(none, 1, seq_cst)) {
    while (learnt.load(acquire) == 1) futex_wait(&learnt, 1);
    return;
  }
  const auto here = reinterpret_cast<std::uintptr_t>(&vole_door_yield);
  symbols::functions_of(here, &count, &own.room);
  if (own.room != 0) {
    own.at = static_cast<own_function*>(map_pages(own.room * sizeof(own_function)));
    if (own.at == nullptr) own.room = 0;
    symbols::functions_of(here, &keep, nullptr);
    std::sort(own.at, own.at + own.n,
              [](const own_function& a, const own_function& b) { return a.from < b.from; });
  }
  learnt.store(2, release);
  futex_wake(&learnt, 1 << 30);
}

std::size_t places_of(notebook& n, const G& g, const void* sp, std::uintptr_t* out,
                      std::size_t most) noexcept {
  if (most == 1) {
    const arch::frame f = out_of_library(n, g, arch::departed_frame(sp));
    if (f.pc != 0 && whose(n, f.pc) == own_code::no) {
      *out = f.pc;
      return 1;
    }
  }
  return walk_outside(n, walk::departed_at(sp), g, out, most < kMostPlaces ? most : kMostPlaces);
}

std::uintptr_t caller_outside(notebook& n, const G& g, arch::frame from) noexcept {
  return out_of_library(n, g, from).pc;
}

void remember_pc(std::uintptr_t pc, bool is_function) noexcept { names::want(pc, is_function); }

}  // namespace vole::rt::trace
