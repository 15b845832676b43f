// By libbacktrace. cmake/backtrace.cmake puts a copy of it into the library whose names begin with
// vole_ and are nobody else's.

#include <link.h>

#include <new>

#include "base/atomic.h"
#include "base/system.h"
#include "symbols/line_table.h"
#include "symbols/scopes.h"
#include "symbols/symbols.h"

struct backtrace_state;

extern "C" {
using vole_backtrace_error = void (*)(void* data, const char* message, int number);
using vole_backtrace_full = int (*)(void* data, std::uintptr_t pc, const char* file, int line,
                                    const char* function);
using vole_backtrace_symbol = void (*)(void* data, std::uintptr_t pc, const char* name,
                                       std::uintptr_t value, std::uintptr_t size);
backtrace_state* vole_backtrace_create_state(const char* file, int threaded,
                                             vole_backtrace_error error, void* data);
int vole_backtrace_pcinfo(backtrace_state* s, std::uintptr_t pc, vole_backtrace_full fn,
                          vole_backtrace_error error, void* data);
int vole_backtrace_syminfo(backtrace_state* s, std::uintptr_t pc, vole_backtrace_symbol fn,
                           vole_backtrace_error error, void* data);
}

namespace vole::symbols {
namespace {

void ignore(void*, const char*, int) {}

backtrace_state* create() noexcept {
  return vole_backtrace_create_state(nullptr, 1, &ignore, nullptr);
}

constinit backtrace_state* made = nullptr;
constinit unsigned long long made_for = 0;  // how many modules had ever been loaded then

unsigned long long modules_loaded() noexcept {
  unsigned long long n = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = info->dlpi_adds;
        return 1;  // the first says it for all
      },
      &n);
  return n;
}

backtrace_state* state() noexcept {
  if (made == nullptr) {
    made_for = modules_loaded();
    made = create();
  }
  return made;
}

// libbacktrace reads the list of modules once. If one has come since, it starts anew; what it had
// read stays in memory, there is no call to free it. False: there is nothing new.
bool renew_state() noexcept {
  const unsigned long long now = modules_loaded();
  if (made == nullptr || now == made_for) return false;
  made_for = now;
  made = create();
  return made != nullptr;
}

constexpr std::size_t kMostPlaces = kMostInlined + 1;  // and the function that holds them

struct answer {
  place at[kMostPlaces];
  std::size_t n = 0;
  const char* symbol = nullptr;
};

// Called for each function at the address. One without a name and a line does not count.
int on_line(void* data, std::uintptr_t, const char* file, int line, const char* function) {
  auto& a = *static_cast<answer*>(data);
  if (function == nullptr && file == nullptr) return 0;
  if (a.n == kMostPlaces) --a.n;  // the outermost is what matters
  a.at[a.n++] = {function, file, line};
  return 0;
}

void on_symbol(void* data, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
  static_cast<answer*>(data)->symbol = name;
}

// One at a time. A thread that died in there must not stop the last words of another, so nobody
// waits for longer than some seconds.
constinit base::atomic<std::uint32_t> busy{0};

bool enter() noexcept {
  for (int tries = 0; busy.exchange(1, std::memory_order_acq_rel) != 0; ++tries) {
    if (tries == 3000) return false;
    base::futex_wait_for(&busy, 1, 1000 * 1000);
  }
  return true;
}

void leave() noexcept {
  busy.store(0, std::memory_order_release);
  base::futex_wake(&busy, 1);
}

bool ask(std::uintptr_t pc, answer& a) noexcept {
  if (!enter()) return false;
  const auto look = [&] {
    vole_backtrace_pcinfo(made, pc, &on_line, &ignore, &a);
    vole_backtrace_syminfo(made, pc, &on_symbol, &ignore, &a);
  };
  const bool can = state() != nullptr;
  if (can) look();
  if (can && a.n == 0 && a.symbol == nullptr && renew_state()) look();
  leave();
  return can;
}

// A name that lasts while it is used: find_inlined's are in pages of their own.
class whole_names {
 public:
  ~whole_names() {
    if (found_ != nullptr) base::unmap_pages(found_, sizeof *found_);
  }
  void put_into(std::uintptr_t pc, answer& a) noexcept {
    if (!lacks_any(a)) return;
    void* const pages = base::map_pages(sizeof(scope_names));
    if (pages == nullptr) return;
    found_ = ::new (pages) scope_names;
    if (!find_inlined_at(pc, found_) || found_->n + 1 != a.n) return;
    for (std::size_t i = 0; i < found_->n; ++i)
      if (is_short(a.at[i].function) && !found_->inlined[i].empty())
        a.at[i].function = found_->inlined[i].data();
  }

 private:
  static bool is_short(const char* name) noexcept {
    return name != nullptr && !std::string_view(name).starts_with("_Z");
  }
  static bool lacks_any(const answer& a) noexcept {
    for (std::size_t i = 0; i + 1 < a.n; ++i)
      if (is_short(a.at[i].function)) return true;
    return false;
  }
  scope_names* found_ = nullptr;
};

}  // namespace

bool look_up(std::uintptr_t pc, each_place fn, void* arg) noexcept {
  answer a;
  if (!ask(pc, a)) return false;
  if (a.n == 0 && a.symbol != nullptr) ++a.n;
  // The linker's name is whole where that of the debug information may not be.
  if (a.n != 0 && a.symbol != nullptr) a.at[a.n - 1].function = a.symbol;
  line_place line;
  if (a.n == 1 && a.at[0].file == nullptr && line_of(pc, &line)) {
    a.at[0].file = line.file;
    a.at[0].line = line.line;
  }
  whole_names names;
  names.put_into(pc, a);
  for (std::size_t i = 0; i < a.n; ++i) fn(a.at[i], arg);
  return a.n != 0;
}

}  // namespace vole::symbols
