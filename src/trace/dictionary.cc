#include "trace/dictionary.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "arch/context.h"
#include "base/lock.h"
#include "base/system.h"
#include "symbols/functions.h"
#include "trace/names.h"

namespace vole::rt::trace {
namespace {

// ── dictionaries ── kept for the life of the process
constinit base::lock<lock_rank::chunks> free_dictionaries_lock;
constinit dictionary* free_dictionaries = nullptr;  // under free_dictionaries_lock

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

bool starts_with_one_of(std::string_view name, std::initializer_list<const char*> all) noexcept {
  for (const char* const begin : all)
    if (name.starts_with(begin)) return true;
  return false;
}

// By the linker's name. What calls the program's function may have that inlined, and is taken for it:
// the wrapper of a goroutine's function, and lambdas of the public templates. Of other weak functions
// the library's own are those that its public headers do not define.
own_code kind_of(std::string_view name, bool weak) noexcept {
  if (!starts_with_one_of(name, {"_ZN4vole", "_ZNK4vole", "_ZZN4vole", "_ZZNK4vole", "vole_"}))
    return own_code::no;
  if (!starts_with_one_of(name, {"_ZN4vole2v0", "_ZNK4vole2v0", "_ZZN4vole2v0", "_ZZNK4vole2v0"}))
    return own_code::compiled;
  if (name.starts_with("_ZZ") || name.find("6invokeE") != name.npos) return own_code::no;
  const bool ours = starts_with_one_of(
      name, {"_ZN4vole2v06detail9chan_", "_ZN4vole2v06detail13chan_try_", "_ZN4vole2v06detail13wait_for_zero"});
  return weak && !ours ? own_code::instantiated : own_code::compiled;
}

void count(const symbols::function& f, void* arg) noexcept {
  if (kind_of(f.name, f.weak) != own_code::no) ++*static_cast<std::size_t*>(arg);
}
void keep(const symbols::function& f, void*) noexcept {
  const own_code kind = kind_of(f.name, f.weak);
  if (kind == own_code::no || own.n == own.room) return;
  own.at[own.n++] = {f.from, f.to, kind == own_code::instantiated};
}

own_code look_up(std::uintptr_t return_address) noexcept {
  const std::uintptr_t pc = return_address - 1;
  const own_function *const begin = own.at, *const end = begin + own.n;
  const own_function* const f = std::upper_bound(
      begin, end, pc, [](std::uintptr_t x, const own_function& y) { return x < y.from; });
  if (f == begin || pc >= f[-1].to) return own_code::no;
  return f[-1].weak ? own_code::instantiated : own_code::compiled;
}

own_code whose(dictionary& n, std::uintptr_t pc) noexcept {
  dictionary::code& c = n.codes[(pc ^ pc >> 9) % dictionary::kCodes];
  if (c.pc != pc) c = {pc, static_cast<std::uint64_t>(look_up(pc))};
  return static_cast<own_code>(c.own);
}

// Walks through vole's own frames, which have frame records, up to a function that may have none.
arch::frame out_of_library(dictionary& n, const G& g, arch::frame f) noexcept {
  const std::byte* const top = g.stack.lo + g.stack.bytes;
  while (f.pc != 0 && whose(n, f.pc) == own_code::compiled) f = arch::caller_of(f, g.stack.lo, top);
  return f;
}

// By the unwind tables: whatever they were compiled with.
std::size_t walk_outside(dictionary& n, walk::cursor c, const G& g, std::uintptr_t* out,
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

dictionary* take_dictionary() noexcept {
  {
    holding hold(free_dictionaries_lock);
    if (dictionary* const n = free_dictionaries) {
      free_dictionaries = n->next;
      for (dictionary::entry& e : n->sites) e = {};  // another's numbers, perhaps of this generation
      for (dictionary::entry& e : n->strings) e = {};
      return n;
    }
  }
  return static_cast<dictionary*>(map_pages(sizeof(dictionary)));
}

void put_dictionary(dictionary* n) noexcept {
  holding hold(free_dictionaries_lock);
  n->next = free_dictionaries;
  free_dictionaries = n;
}

void reset_dictionaries_lock() noexcept { free_dictionaries_lock.word()->store(0, relaxed); }

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

std::size_t places_of(dictionary& n, const G& g, const void* sp, std::uintptr_t* out,
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

std::uintptr_t caller_outside(dictionary& n, const G& g, arch::frame from) noexcept {
  return out_of_library(n, g, from).pc;
}

void remember_pc(std::uintptr_t pc, bool is_function) noexcept { names::want(pc, is_function); }

}  // namespace vole::rt::trace
