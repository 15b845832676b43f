#include "trace/names.h"

#include <deque>
#include <new>
#include <string_view>
#include <vector>

#include "base/atomic.h"
#include "gmp/wait_reason.h"
#include "os/os.h"
#include "symbols/functions.h"
#include "symbols/names.h"
#include "symbols/symbols.h"
#include "trace/format.h"

namespace vole::rt::trace::names {
namespace {

constexpr std::size_t kRoom = 1 << 14;  // a power of two
constexpr std::uint64_t kFunction = std::uint64_t{1} << 63;

// In the order in which they were wanted, beside a table to find them by.
constinit atomic<std::uint64_t> table[kRoom];
constinit atomic<std::uint64_t> order[kRoom];
constinit atomic<std::uint32_t> wanted{0};

struct line {
  std::string function, file;
  int number;
};
struct named {
  std::uintptr_t pc;
  std::vector<line> lines;
};
// The writer's, for the life of the process.
std::deque<named>& all() {
  static auto* const list = new std::deque<named>;
  return *list;
}

void put(std::string& to, std::uint64_t n) {
  std::uint8_t bytes[kMostVarint];
  to.append(reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(put_varint(bytes, n) - bytes));
}
void put(std::string& to, std::string_view s) {
  put(to, s.size());
  to += s;
}

struct collecting {
  named* to;
  bool plumbing_too;
  bool any_plumbing = false;
};

// vole's own inlined functions are left out where there is somebody else's.
void collect(const symbols::place& p, void* arg) noexcept {
  auto& c = *static_cast<collecting*>(arg);
  try {
    line l{p.function != nullptr ? symbols::readable(p.function) : "?",
           p.file != nullptr ? p.file : "", p.line};
    if (!c.plumbing_too && symbols::is_plumbing(l.function, p.file)) {
      c.any_plumbing = true;
      return;
    }
    c.to->lines.push_back(std::move(l));
  } catch (const std::bad_alloc&) {
  }
}

named look_up(std::uint64_t entry) {
  named n{static_cast<std::uintptr_t>(entry & ~kFunction), {}};
  if ((entry & kFunction) != 0) {
    collecting c{&n, true};
    symbols::look_up(n.pc, &collect, &c);
    if (n.lines.empty()) return n;
    n.lines.erase(n.lines.begin(), n.lines.end() - 1);
    if (const std::string_view f = symbols::wrapped_function(n.lines[0].function); !f.empty())
      n.lines[0].function = std::string(f);
    return n;
  }
  collecting c{&n, false};
  symbols::look_up(n.pc - 1, &collect, &c);
  if (!n.lines.empty() || !c.any_plumbing) return n;
  collecting again{&n, true};
  symbols::look_up(n.pc - 1, &collect, &again);
  return n;
}

}  // namespace

void want(std::uintptr_t pc, bool is_function) noexcept {
  const std::uint64_t entry = pc | (is_function ? kFunction : 0);
  std::size_t i = (pc ^ pc >> 12) % kRoom;
  for (int tries = 0; tries < 64; ++tries, i = (i + 1) % kRoom) {
    std::uint64_t there = table[i].load(relaxed);
    if ((there & ~kFunction) == pc) return;
    if (there != 0) continue;
    if (table[i].compare_exchange_strong(there, entry, relaxed)) {
      const std::uint32_t at = wanted.fetch_add(1, relaxed);
      if (at < kRoom) order[at].store(entry, release);  // pairs: look_up_all
      return;
    }
    if ((there & ~kFunction) == pc) return;
  }
}

void warm_up() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(&warm_up);
  symbols::look_up(here, [](const symbols::place&, void*) noexcept {}, nullptr);
}

bool look_up_all(std::int64_t most_ns) {
  const std::int64_t until = os::now_ns() + most_ns;
  for (;;) {
    const std::size_t i = all().size();
    const std::uint64_t entry = i < kRoom ? order[i].load(acquire) : 0;  // pairs: want
    if (entry == 0) return true;
    all().push_back(look_up(entry));
    if (os::now_ns() > until) return false;
  }
}

std::size_t known() noexcept { return all().size(); }

std::size_t symbols_from(std::size_t first, std::size_t most, std::string& out) {
  std::string body;
  std::size_t n = 0, i = first;
  for (; i < all().size() && body.size() < most; ++i) {
    const named& one = all()[i];
    if (one.lines.empty()) continue;
    ++n;
    put(body, one.pc);
    put(body, one.lines.size());
    for (const line& l : one.lines) {
      put(body, l.function);
      put(body, l.file);
      put(body, static_cast<std::uint64_t>(l.number > 0 ? l.number : 0));
    }
  }
  out.clear();
  put(out, n);
  out += body;
  return i < all().size() ? i : 0;
}

std::string modules() {
  struct list {
    std::string body;
    std::size_t n = 0;
  } l;
  symbols::modules(
      [](const symbols::module& m, void* arg) noexcept {
        auto& to = *static_cast<list*>(arg);
        try {
          constexpr char kDigits[] = "0123456789abcdef";
          std::string id;
          for (const char c : m.build_id) {
            id += kDigits[static_cast<unsigned char>(c) >> 4];
            id += kDigits[static_cast<unsigned char>(c) & 15];
          }
          put(to.body, m.path);
          put(to.body, m.bias);
          put(to.body, m.from);
          put(to.body, m.to);
          put(to.body, id);
          ++to.n;
        } catch (const std::bad_alloc&) {
        }
      },
      &l);
  std::string out;
  put(out, l.n);
  return out + l.body;
}

std::string reasons() {
  std::string out;
  put(out, kWaitReasons);
  for (int i = 0; i < kWaitReasons; ++i) {
    const std::string_view name = name_of(static_cast<wait_reason>(i));
    put(out, i == 0 ? "none" : name);
  }
  return out;
}

}  // namespace vole::rt::trace::names
