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
};

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
    if (!*hidden) put_printable(n.to, name);
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

void describe(std::uintptr_t pc, bool plain, bool all, bool only_first, writer& to) noexcept {
  naming n{to, plain, all, only_first};
  if (symbols::look_up(pc, &put_place, &n)) return;
  // The standard library's own way to std::terminate.
  if (!all && symbols::module_of(pc).name.starts_with("libstdc++.so")) return;
  put_module(pc, to);
  to.put("\n");
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

// Empty if it does not fit any more, or nothing is to be said.
std::string_view frame_texts::text_of(std::uintptr_t pc) noexcept {
  if (room_ == nullptr || room_->used >= kPlaces / 4 * 3) return {};
  for (std::size_t i = pc ^ pc >> 12;; ++i) {
    entry& e = room_->entries[i % kPlaces];
    if (e.pc == pc) return {room_->text + e.first, e.size};
    if (e.pc != 0) continue;
    writer to{room_->text + room_->text_used, kTextBytes - room_->text_used};
    describe(pc - 1, plain_, all_, false, to);
    e = {pc, static_cast<std::uint32_t>(room_->text_used), static_cast<std::uint32_t>(to.size)};
    room_->text_used += to.size;
    ++room_->used;
    return {room_->text + e.first, e.size};
  }
}

void frame_texts::put(std::uintptr_t pc, text_sink out, void* arg) noexcept {
  const std::string_view text = text_of(pc);
  if (!text.empty()) return out(text, arg);
  if (room_ != nullptr && room_->used < kPlaces / 4 * 3) return;  // nothing is to be said
  char buffer[2048];
  writer to{buffer, sizeof buffer};
  describe(pc - 1, plain_, all_, false, to);
  out({buffer, to.size}, arg);
}

bool frame_texts::put_stack(const std::uintptr_t* frames, std::size_t n, text_sink out,
                            void* arg) noexcept {
  struct counting {
    text_sink out;
    void* arg;
    bool any = false;
  } through{out, arg};
  for (std::size_t i = 0; i < n; ++i)
    put(
        frames[i],
        [](std::string_view text, void* to) noexcept {
          auto& t = *static_cast<counting*>(to);
          t.any |= !text.empty();
          t.out(text, t.arg);
        },
        &through);
  return through.any;
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
