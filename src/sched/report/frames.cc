#include "sched/report/frames.h"

#include <new>
#include <string>

#include "base/fatal.h"
#include "base/system.h"
#include "symbols/names.h"
#include "symbols/symbols.h"

namespace vole::rt {
namespace {

using base::sentence;
using symbols::place;

constexpr std::size_t kPlaces = 4096;  // a power of two
constexpr std::size_t kTextBytes = 3u << 20;

// Collects up to a buffer's end; what does not fit is left out whole.
struct writer {
  char* at;
  std::size_t room, size = 0;
  bool full = false;

  void put(std::string_view text) noexcept {
    if (full || text.size() > room - size) {
      full = true;
      return;
    }
    text.copy(at + size, text.size());
    size += text.size();
  }
};

// Of a file that may be damaged: what would move the cursor of a terminal is shown as '?'.
void put_printable(writer& to, std::string_view text) noexcept {
  for (const char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    to.put(code < 0x20 || code == 0x7f ? std::string_view("?") : std::string_view(&c, 1));
  }
}

struct naming {
  writer& to;
  bool plain;
  bool all;
  bool only_first;
  unsigned shown = 0;
  bool is_wrapper = false;
};

// Without debug information a user's lambda that was inlined into vole's wrapper is there by the
// wrapper's name alone, which holds its own.
std::string_view held_by_wrapper(const place& p, std::string_view name) noexcept {
  const std::string_view held =
      p.file == nullptr ? symbols::wrapped_function(name) : std::string_view();
  return held.find("{lambda") != std::string_view::npos && !symbols::is_plumbing(held, nullptr)
             ? held
             : std::string_view();
}

// Names take memory: without it they stay as the linker knows them.
void put_name(const place& p, naming& n, bool* hidden) noexcept {
  const char* const function = p.function;
  *hidden = !n.all && symbols::is_plumbing({}, p.file);
  if (*hidden) return;
  if (function == nullptr) return n.to.put("?");
  if (n.plain) return put_printable(n.to, function);
  try {
    const std::string name = symbols::readable(function);
    *hidden = !n.all && symbols::is_plumbing(name, p.file);
    if (!*hidden) return put_printable(n.to, name);
    const std::string_view held = held_by_wrapper(p, name);
    n.is_wrapper = !held.empty();
    *hidden = held.empty();
    put_printable(n.to, held);
  } catch (const std::bad_alloc&) {
    put_printable(n.to, function);
  }
}

void put_place(const place& p, void* arg) noexcept {
  auto& n = *static_cast<naming*>(arg);
  if (n.only_first && n.shown != 0) return;
  bool hidden;
  put_name(p, n, &hidden);
  if (hidden) return;
  ++n.shown;
  n.to.put("\n");
  if (p.file == nullptr) return;
  sentence line;
  line << ":" << p.line << "\n";
  n.to.put("\t");
  put_printable(n.to, p.file);
  n.to.put(line.view());
}

void put_module(std::uintptr_t pc, writer& to) noexcept {
  const symbols::module_place m = symbols::module_of(pc);
  sentence s;
  if (!m.name.empty()) s << m.name << "+";
  s.hex(m.offset);
  to.put(s.view());
}

// True: the text is what a wrapper holds.
bool describe(std::uintptr_t pc, bool plain, bool all, bool only_first, writer& to) noexcept {
  naming n{to, plain, all, only_first};
  if (symbols::look_up(pc, &put_place, &n)) return n.is_wrapper;
  // The standard library's own way to std::terminate, and the unwinder's.
  const std::string_view module = symbols::module_of(pc).name;
  if (!all && (module.starts_with("libstdc++.so") || module.starts_with("libgcc_s.so")))
    return false;
  put_module(pc, to);
  to.put("\n");
  return false;
}

}  // namespace

struct frame_texts::room {
  entry entries[kPlaces];
  std::size_t used, text_used;
  char text[kTextBytes];
};

frame_texts::frame_texts(bool plain, bool all) noexcept
    : plain_(plain), all_(all), room_(static_cast<room*>(base::map_pages(sizeof(room)))) {}

frame_texts::~frame_texts() {
  if (room_ != nullptr) base::unmap_pages(room_, sizeof(room));
}

// Null if it does not fit any more.
const frame_texts::entry* frame_texts::entry_of(std::uintptr_t pc) noexcept {
  if (room_ == nullptr || room_->used >= kPlaces / 4 * 3) return nullptr;
  for (std::size_t i = pc ^ pc >> 12;; ++i) {
    entry& e = room_->entries[i % kPlaces];
    if (e.pc == pc) return &e;
    if (e.pc != 0) continue;
    writer to{room_->text + room_->text_used, kTextBytes - room_->text_used};
    const bool is_wrapper = describe(pc - 1, plain_, all_, false, to);
    e = {pc, static_cast<std::uint32_t>(room_->text_used), static_cast<std::uint32_t>(to.size),
         is_wrapper};
    room_->text_used += to.size;
    ++room_->used;
    return &e;
  }
}

// What a wrapper holds is said once: its own frame may lie before. Calls that a recursion repeats more
// than once are counted.
bool frame_texts::put_stack(const std::uintptr_t* frames, std::size_t n, text_sink out,
                            void* arg) noexcept {
  bool any = false;
  std::string_view last;
  std::size_t same = 0;
  const auto put_same = [&]() noexcept {
    sentence s;
    s << "(and " << same << " calls more of the same)\n";
    if (same != 0) out(same == 1 ? last : s.view(), arg);
    same = 0;
  };
  for (std::size_t i = 0; i < n; ++i) {
    char buffer[2048];
    std::string_view text;
    if (const entry* const e = entry_of(frames[i])) {
      text = {room_->text + e->first, e->size};
      if (e->is_wrapper && text == last) continue;
    } else {
      writer to{buffer, sizeof buffer};
      describe(frames[i] - 1, plain_, all_, false, to);
      text = {buffer, to.size};
    }
    if (text.empty()) continue;
    if (text.data() == last.data()) {  // the same address
      ++same;
      continue;
    }
    put_same();
    out(text, arg);
    any = true;
    last = text.data() == buffer ? std::string_view() : text;
  }
  put_same();
  return any;
}

void frame_texts::put_call_site(std::uintptr_t return_address, text_sink out, void* arg) noexcept {
  char buffer[2048];
  writer to{buffer, sizeof buffer};
  describe(return_address - 1, plain_, all_, true, to);
  if (to.size == 0) to.put("vole\n");  // main, and helpers of vole's own
  out({buffer, to.size}, arg);
}

void frame_texts::put_function(std::uintptr_t wrapper, text_sink out, void* arg) noexcept {
  std::string function;
  const auto remember = [](const place& p, void* to) noexcept {
    if (p.function == nullptr) return;
    try {
      *static_cast<std::string*>(to) = symbols::readable(p.function);
    } catch (const std::bad_alloc&) {
    }
  };
  if (!plain_) symbols::look_up(wrapper, remember, &function);
  const std::string_view wrapped = symbols::wrapped_function(function);
  if (!wrapped.empty()) return out(wrapped, arg);
  char buffer[256];
  writer to{buffer, sizeof buffer};
  put_module(wrapper, to);
  out({buffer, to.size}, arg);
}

}  // namespace vole::rt
