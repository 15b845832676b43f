// include/vole/runtime.h: dumps and goroutines(). A picture is taken with the world stopped; all the
// rest happens while the program runs on.

#include <new>
#include <unordered_map>

#include <vole/runtime.h>

#include "sched/report/capture.h"
#include "sched/report/dump.h"
#include "sched/report/inspect.h"
#include "symbols/names.h"
#include "symbols/symbols.h"

namespace vole {
inline namespace v0 {
namespace {

using frames = std::vector<frame>;

// Names by return address: few places hold many goroutines.
class names {
 public:
  const frames& at(std::uintptr_t return_address) {
    const auto [found, fresh] = known_.try_emplace(return_address);
    if (fresh) found->second = look_up(return_address - 1, return_address);
    return found->second;
  }
  // The innermost that is the user's.
  frame call_site(const void* return_address) {
    const auto at_pc = reinterpret_cast<std::uintptr_t>(return_address);
    const frames& all = at(at_pc);
    return all.empty() ? frame{{}, {}, 0, return_address} : all.front();
  }
  std::string wrapped(const void* wrapper) {
    const auto at_pc = reinterpret_cast<std::uintptr_t>(wrapper);
    const auto [found, fresh] = wrappers_.try_emplace(at_pc);
    if (!fresh) return found->second;
    const frames all = look_up_all(at_pc, at_pc);
    if (!all.empty()) found->second = symbols::wrapped_function(all.back().function);
    return found->second;
  }

 private:
  static frames look_up_all(std::uintptr_t pc, std::uintptr_t shown) {
    struct answer {
      frames list;
      std::uintptr_t shown;
      bool out_of_memory = false;
    } a{{}, shown};
    symbols::look_up(
        pc,
        [](const symbols::place& p, void* to) noexcept {
          auto& mine = *static_cast<answer*>(to);
          try {
            mine.list.push_back({p.function != nullptr ? symbols::readable(p.function) : "",
                                 p.file != nullptr ? p.file : "", p.line,
                                 reinterpret_cast<const void*>(mine.shown)});
          } catch (const std::bad_alloc&) {
            mine.out_of_memory = true;
          }
        },
        &a);
    if (a.out_of_memory) throw std::bad_alloc();
    return std::move(a.list);
  }
  // "program+0x1234", which addr2line understands.
  static std::string module_place(std::uintptr_t pc) {
    const symbols::module_place m = symbols::module_of(pc);
    char offset[24];
    std::snprintf(offset, sizeof offset, "%s0x%zx", m.name.empty() ? "" : "+",
                  static_cast<std::size_t>(m.offset));
    return std::string(m.name) + offset;
  }
  static frames look_up(std::uintptr_t pc, std::uintptr_t shown) {
    frames all = look_up_all(pc, shown);
    if (all.empty()) return {frame{module_place(pc), {}, 0, reinterpret_cast<const void*>(shown)}};
    if (!rt::dump::shows_all_frames())
      std::erase_if(
          all, [](const frame& f) { return symbols::is_plumbing(f.function, f.file.c_str()); });
    return all;
  }

  std::unordered_map<std::uintptr_t, frames> known_;
  std::unordered_map<std::uintptr_t, std::string> wrappers_;
};

goroutine_info info_of(const rt::capture& picture, const rt::captured& c, names& known) {
  goroutine_info g;
  g.id = c.id;
  g.parent = c.parent;
  g.name = static_cast<const char*>(c.name);
  g.status = name_of(c.status);
  g.wait_reason = name_of(c.why);
  g.waiting = std::chrono::nanoseconds(c.waited_ns > 0 ? c.waited_ns : 0);
  g.object = c.object;
  g.created_at = known.call_site(c.created_at);
  std::size_t n;
  const std::uintptr_t* const pcs = picture.frames(c, &n);
  for (std::size_t i = 0; i < n; ++i) {
    const frames& here = known.at(pcs[i]);
    g.stack.insert(g.stack.end(), here.begin(), here.end());
  }
  g.function = g.stack.empty() ? known.wrapped(c.invoke) : g.stack.back().function;
  return g;
}

rt::capture& taken(rt::capture& picture, bool ask_running) {
  if (!rt::take_picture(picture, ask_running)) throw std::bad_alloc();
  return picture;
}

// How many bytes of a character of UTF-8 begin here; 0: none that is valid.
std::size_t character_at(std::string_view s, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(at + 1);  // too long a form, surrogates, beyond the last
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return n;
}

// Bytes that are not UTF-8 become U+FFFD.
void put_text(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t n = character_at(text, at);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (n == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out += code;
    } else if (n == 0) {
      out += "\\ufffd";
    } else {
      out += text.substr(at, n);
    }
    at += n != 0 ? n : 1;
  }
  out += '"';
}

void put_pointer(std::string& out, const void* p) {
  char text[24];
  std::snprintf(text, sizeof text, "\"%p\"", p);
  out += text;
}

void put_frame(std::string& out, const frame& f) {
  out += "{\"function\":";
  put_text(out, f.function);
  out += ",\"file\":";
  put_text(out, f.file);
  out += ",\"line\":" + std::to_string(f.line) + ",\"pc\":";
  put_pointer(out, f.pc);
  out += '}';
}

// Null: not known, or not a goroutine.
void put_holder(std::string& out, const rt::captured& c) {
  out += ",\"holder\":";
  out += c.holder != 0 && c.holder != rt::kHeldElsewhere ? std::to_string(c.holder) : "null";
  out += ",\"held_elsewhere\":";
  out += c.holder == rt::kHeldElsewhere ? "true" : "false";
}

void put_channels(std::string& out, const rt::capture& picture, const rt::captured& c) {
  out += ",\"channels\":[";
  std::size_t n;
  const std::uintptr_t* const channels = picture.channels(c, &n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i != 0) out += ',';
    put_pointer(out, reinterpret_cast<const void*>(channels[i]));
  }
  out += ']';
}

void put_json(std::string& out, const goroutine_info& g, const rt::capture& picture,
              const rt::captured& c) {
  out += "{\"id\":" + std::to_string(g.id) + ",\"parent\":" + std::to_string(g.parent);
  for (const auto& [key, value] : {std::pair(",\"name\":", &g.name),
                                   {",\"status\":", &g.status},
                                   {",\"wait_reason\":", &g.wait_reason},
                                   {",\"function\":", &g.function}}) {
    out += key;
    put_text(out, *value);
  }
  out += ",\"waiting_ns\":" + std::to_string(g.waiting.count()) + ",\"object\":";
  g.object != nullptr ? put_pointer(out, g.object) : void(out += "null");
  put_holder(out, c);
  put_channels(out, picture, c);
  out += ",\"created_at\":";
  put_frame(out, g.created_at);
  out += ",\"stack\":[";
  for (std::size_t i = 0; i < g.stack.size(); ++i) {
    if (i != 0) out += ',';
    put_frame(out, g.stack[i]);
  }
  out += "]}";
}

void dump_json(std::FILE* out) {
  rt::capture picture;
  taken(picture, true);
  names known;
  std::string text = "[";
  for (std::size_t i = 0; i < picture.size(); ++i) {
    text += i != 0 ? ",\n" : "\n";
    put_json(text, info_of(picture, picture.at(i), known), picture, picture.at(i));
    std::fwrite(text.data(), 1, text.size(), out);
    text.clear();
  }
  text += "\n]\n";
  std::fwrite(text.data(), 1, text.size(), out);
}

}  // namespace

std::vector<goroutine_info> goroutines() {
  rt::capture picture;
  taken(picture, false);
  names known;
  std::vector<goroutine_info> all;
  all.reserve(picture.size());
  for (std::size_t i = 0; i < picture.size(); ++i)
    all.push_back(info_of(picture, picture.at(i), known));
  return all;
}

void dump_goroutines(std::FILE* out, dump_format format) {
  if (format == dump_format::json) return dump_json(out);
  rt::capture picture;
  taken(picture, true);
  rt::dump::write(
      picture, false,
      [](std::string_view text, void* to) noexcept {
        std::fwrite(text.data(), 1, text.size(), static_cast<std::FILE*>(to));
      },
      out);
}

}  // namespace v0
}  // namespace vole
