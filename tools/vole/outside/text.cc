#include "text.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "sched/frames.h"

namespace vole_command::outside {
namespace {

constexpr std::size_t kIdsShown = 8;
constexpr std::int64_t kMilli = 1000 * 1000, kSecond = 1000 * kMilli;

using frame_list = std::vector<std::uint64_t>;

void append(std::string_view text, void* to) noexcept {
  static_cast<std::string*>(to)->append(text);
}

struct writer {
  const picture& p;
  const found_root& root;
  const std::vector<frame_list>& frames;
  vole::rt::frame_texts names{false};
  std::string out;

  std::int64_t waited(const goroutine& g) const { return p.taken_at - g.waiting_since; }
  void put_block(const std::vector<std::uint32_t>& members, const std::string& stack);
  void put_ids(const std::vector<std::uint32_t>& members);
  void put_wait(const std::vector<std::uint32_t>& members);
  void put_body(const goroutine& g, bool has_frames, const std::string& stack);
  const goroutine& at(std::uint32_t i) const { return p.goroutines[i]; }
};

std::string time_text(std::int64_t ns) {
  return ns >= kSecond ? std::to_string(ns / kSecond) + " s" : std::to_string(ns / kMilli) + " ms";
}

void writer::put_ids(const std::vector<std::uint32_t>& members) {
  const std::size_t n = members.size();
  if (n == 1) {
    out += "goroutine " + std::to_string(at(members[0]).id);
    return;
  }
  out += std::to_string(n) + " goroutines (";
  for (std::size_t i = 0; i < n; ++i) {
    if (n > kIdsShown && i == kIdsShown - 1) {
      out += ", ..., " + std::to_string(at(members.back()).id);
      break;
    }
    out += (i != 0 ? ", " : "") + std::to_string(at(members[i]).id);
  }
  out += ")";
}

void writer::put_wait(const std::vector<std::uint32_t>& members) {
  const goroutine& first = at(members[0]);
  if (const std::string why = root.reason_name(first.why); !why.empty()) out += ", " + why;
  std::int64_t shortest = waited(first), longest = shortest;
  bool same_object = true;
  for (const std::uint32_t i : members) {
    shortest = std::min(shortest, waited(at(i)));
    longest = std::max(longest, waited(at(i)));
    same_object &= at(i).object == first.object;
  }
  if (longest >= kMilli) {
    out += ", ";
    if (longest - shortest >= kSecond) out += time_text(shortest) + " to ";
    out += time_text(longest);
  }
  if (first.object != 0 && same_object) {
    char text[32];
    std::snprintf(text, sizeof text, ", on 0x%llx", static_cast<unsigned long long>(first.object));
    out += text;
  }
}

void writer::put_body(const goroutine& g, bool has_frames, const std::string& stack) {
  if (stack.empty()) {
    names.put_function(g.invoke, append, &out);
    out += g.status == kRunnable && !g.started ? "\n\t(it has not run yet)\n"
           : has_frames                        ? "\n\t(in vole's own code)\n"
                                               : "\n\t(its stack is not read)\n";
  }
  out += stack;
  out += g.parent != 0 ? "created by goroutine " + std::to_string(g.parent)
                       : std::string("created by a plain thread");
  out += " in ";
  names.put_call_site(g.created_at, append, &out);
  out += "\n";
}

void writer::put_block(const std::vector<std::uint32_t>& members, const std::string& stack) {
  const goroutine& g = at(members[0]);
  put_ids(members);
  const bool same_name = std::all_of(members.begin(), members.end(),
                                     [&](std::uint32_t i) { return at(i).name == g.name; });
  if (same_name && !g.name.empty()) out += " (" + g.name + ")";
  out += " [" + root.status_name(g.status);
  if (g.status == kWaiting) put_wait(members);
  if (g.locked) out += ", locked to thread";
  out += "]:\n";
  put_body(g, !frames[members[0]].empty(), stack);
}

struct hash_frames {
  std::size_t operator()(const frame_list* f) const {
    std::size_t h = f->size();
    for (const std::uint64_t pc : *f) {
      h = (h ^ pc) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return h;
  }
};
struct same_frames {
  bool operator()(const frame_list* a, const frame_list* b) const { return *a == *b; }
};

// For each goroutine the number of its stack's text; stacks that print alike have the same.
std::vector<std::uint32_t> stacks_of(writer& w, std::vector<std::string>& texts) {
  std::vector<std::uint32_t> stack_of(w.frames.size());
  std::unordered_map<const frame_list*, std::uint32_t, hash_frames, same_frames> by_frames;
  std::map<std::string, std::uint32_t> by_text;
  for (std::size_t i = 0; i < w.frames.size(); ++i) {
    const auto [seen, is_new] = by_frames.try_emplace(&w.frames[i], 0);
    if (is_new) {
      std::string text;
      w.names.put_stack(w.frames[i].data(), w.frames[i].size(), append, &text);
      const auto [known, is_first] =
          by_text.try_emplace(std::move(text), static_cast<std::uint32_t>(texts.size()));
      if (is_first) texts.push_back(known->first);
      seen->second = known->second;
    }
    stack_of[i] = seen->second;
  }
  return stack_of;
}

}  // namespace

std::string text_of(const picture& p, const found_root& root,
                    const std::vector<frame_list>& frames) {
  writer w{p, root, frames, vole::rt::frame_texts(false), {}};
  std::vector<std::string> texts;
  const std::vector<std::uint32_t> stack_of = stacks_of(w, texts);
  using kind = std::tuple<std::uint32_t, bool, std::uint8_t, std::uint8_t, std::uint64_t,
                          std::uint64_t, bool>;
  std::map<kind, std::vector<std::uint32_t>> blocks;
  for (std::uint32_t i = 0; i < p.goroutines.size(); ++i) {
    const goroutine& g = p.goroutines[i];
    blocks[{stack_of[i], frames[i].empty(), g.status, g.why, g.created_at, g.invoke, g.locked}]
        .push_back(i);
  }
  std::vector<std::pair<std::uint64_t, const std::vector<std::uint32_t>*>> order;
  for (auto& [k, members] : blocks) {
    std::sort(members.begin(), members.end(), [&p](std::uint32_t a, std::uint32_t b) {
      return p.goroutines[a].id < p.goroutines[b].id;
    });
    order.push_back({p.goroutines[members[0]].id, &members});
  }
  std::sort(order.begin(), order.end());
  for (const auto& [id, members] : order) w.put_block(*members, texts[stack_of[(*members)[0]]]);
  return std::move(w.out);
}

}  // namespace vole_command::outside
