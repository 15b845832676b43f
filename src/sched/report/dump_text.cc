#include "sched/report/dump_text.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/system.h"
#include "sched/report/cycles.h"

namespace vole::rt::dump {
namespace {

using base::map_pages;
using base::sentence;
using base::unmap_pages;

constexpr std::size_t kIdsShown = 8;

// Two goroutines with the same key are one block.
auto kind_of(const captured& c) noexcept {
  return std::tuple(c.stack, c.reason, c.status, c.why, c.created_at, c.invoke, c.locked,
                    c.is_caller);
}

// Goroutines [first, last) of the sorted order are one block.
struct block {
  std::size_t first, last;
};

// An object, and how many wait for it.
struct waiters {
  const void* object;
  std::size_t n;
  std::uint64_t joined;  // the goroutine whose end it is; 0: it is something else
};

struct layout {
  captured_set& c;
  std::uint32_t* order = nullptr;
  block* blocks = nullptr;
  waiters* objects = nullptr;
  std::size_t bytes = 0, n_blocks = 0, slots = 1024;

  explicit layout(captured_set& picture) noexcept : c(picture) {
    while (slots < 2 * c.size()) slots *= 2;
    const std::size_t n = c.size() + 1;
    bytes = n * (sizeof(std::uint32_t) + sizeof(block)) + slots * sizeof(waiters);
    auto* const memory = static_cast<std::byte*>(map_pages(bytes));
    if (memory == nullptr) return;
    blocks = reinterpret_cast<block*>(memory);
    objects = reinterpret_cast<waiters*>(memory + n * sizeof(block));
    order = reinterpret_cast<std::uint32_t*>(objects + slots);
    for (std::size_t i = 0; i < c.size(); ++i)
      if (const void* const o = c.at(i).object; o != nullptr) {
        waiters& w = objects[slot_of(o)];
        w.object = o;
        ++w.n;
      }
    find_joins();
  }
  // Finds the goroutine that each join() waits for: the record of a joined goroutine begins with the
  // address of the object that its join_handle waits on, less kJoinedAt.
  void find_joins() noexcept {
    for (std::size_t i = 0; i < c.size(); ++i) {
      if (c.at(i).callable == 0) continue;
      const auto* const o = reinterpret_cast<const void*>(c.at(i).callable + kJoinedAt);
      if (waiters& w = objects[slot_of(o)]; w.object == o) w.joined = c.at(i).id;
    }
    for (std::size_t i = 0; i < c.size(); ++i)
      if (captured& x = c.at(i); x.why == wait_reason::wait_group && x.object != nullptr)
        x.joins = objects[slot_of(x.object)].joined;
  }
  std::size_t slot_of(const void* object) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    std::size_t at = (address >> 3) * 0x9e3779b97f4a7c15u >> 24;
    while (objects[at & (slots - 1)].object != nullptr &&
           objects[at & (slots - 1)].object != object)
      ++at;
    return at & (slots - 1);
  }
  ~layout() {
    if (blocks != nullptr) unmap_pages(blocks, bytes);
  }
  layout(const layout&) = delete;
  layout& operator=(const layout&) = delete;
  // How many wait for that.
  std::size_t waiters_of(const void* object) const noexcept {
    const waiters& w = objects[slot_of(object)];
    return w.object == object ? w.n : 0;
  }
  const captured& at(std::size_t i) const noexcept { return c.at(order[i]); }

  void group(bool by_age) noexcept {
    const std::size_t n = c.size();
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order, order + n, [this](std::uint32_t a, std::uint32_t b) {
      const captured &x = c.at(a), &y = c.at(b);
      const auto kx = kind_of(x), ky = kind_of(y);
      return kx != ky ? kx < ky : x.id < y.id;
    });
    for (std::size_t i = 0; i < n;) {
      std::size_t j = i + 1;
      while (j < n && kind_of(at(i)) == kind_of(at(j))) ++j;
      blocks[n_blocks++] = {i, j};
      i = j;
    }
    std::sort(blocks, blocks + n_blocks, [this, by_age](const block& a, const block& b) {
      const captured &x = at(a.first), &y = at(b.first);
      if (by_age && oldest(a) != oldest(b)) return oldest(a) > oldest(b);
      return x.is_caller != y.is_caller ? x.is_caller : x.id < y.id;
    });
  }
  // Those of one block are sorted by id: mostly the first has waited longest.
  std::int64_t oldest(const block& b) const noexcept { return at(b.first).waited_ns; }
};

void put_time(sentence& s, std::int64_t ns) noexcept {
  constexpr std::int64_t kSecond = 1000 * 1000 * 1000;
  if (ns >= kSecond) {
    s << ns / kSecond << " s";
  } else {
    s << ns / (1000 * 1000) << " ms";
  }
}

struct common {
  bool name = true, object = true, channels = true, joins = true;
  std::size_t others = 0;  // that wait for the same, in other blocks
  std::int64_t shortest = 0, longest = 0;
};

common common_of(const layout& l, const block& b) noexcept {
  const captured& first = l.at(b.first);
  common all;
  all.shortest = all.longest = first.waited_ns;
  for (std::size_t i = b.first; i < b.last; ++i) {
    const captured& c = l.at(i);
    all.name &= std::strncmp(c.name, first.name, sizeof c.name) == 0;
    all.object &= c.object == first.object;
    all.channels &= c.channels == first.channels;
    all.joins &= c.joins != 0;
    all.shortest = std::min(all.shortest, c.waited_ns);
    all.longest = std::max(all.longest, c.waited_ns);
  }
  if (all.object && first.object != nullptr)
    all.others = l.waiters_of(first.object) - (b.last - b.first);
  return all;
}

void put_holder(sentence& s, const captured& c) noexcept {
  if (c.holder == kHeldElsewhere) {
    s << ", held by a plain thread, or by a goroutine that has ended";
  } else if (c.holder == c.id) {
    s << ", probably held by itself";
  } else if (c.holder != 0) {
    s << ", probably held by goroutine " << c.holder;
  }
}

void put_objects(sentence& s, const captured_set& set, const captured& c,
                 const common& all) noexcept {
  if (c.object != nullptr && all.object) {
    s << ", on ";
    s.hex(reinterpret_cast<std::uintptr_t>(c.object));
    put_holder(s, c);
    if (all.others != 0) s << ", with " << all.others << (all.others == 1 ? " other" : " others");
  }
  if (c.channels == 0 || !all.channels) return;
  std::size_t n;
  const std::uintptr_t* const channels = set.channels(c, &n);
  for (std::size_t i = 0; i < n; ++i) {
    s << (i == 0 ? ", on " : " | ");
    s.hex(channels[i]);
  }
}

void put_why(sentence& s, const captured& c, const common& all) noexcept {
  if (!all.joins) {
    if (const std::string_view why = name_of(c.why); !why.empty()) s << ", " << why;
    return;
  }
  s << ", join";
  if (all.object) s << " of goroutine " << c.joins;
}

void put_wait(sentence& s, const captured_set& set, const captured& c, const common& all) noexcept {
  put_why(s, c, all);
  if (all.longest >= 1000 * 1000) {
    s << ", ";
    if (all.longest - all.shortest >= 1000 * 1000 * 1000) {
      put_time(s, all.shortest);
      s << " to ";
    }
    put_time(s, all.longest);
  }
  put_objects(s, set, c, all);
}

void add_to_hash(std::string_view text, void* h) noexcept {
  auto& hash = *static_cast<std::uint64_t*>(h);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash ^= hash >> 29;
}

void put_ids(sentence& s, const layout& l, const block& b) noexcept {
  const std::size_t n = b.last - b.first;
  s << n << " goroutines (";
  for (std::size_t i = 0; i < n; ++i) {
    if (n > kIdsShown && i == kIdsShown - 1) {
      s << ", ..., " << l.at(b.last - 1).id;
      break;
    }
    if (i != 0) s << ", ";
    s << l.at(b.first + i).id;
  }
  s << ")";
}

void put_state(sentence& s, const captured_set& set, const captured& c,
               const common& all) noexcept {
  if (all.name) put_name(s, c.name);
  s << " [" << name_of(c.status);
  if (c.status == g_status::waiting) put_wait(s, set, c, all);
  if (c.locked) s << ", locked to thread";
  s << "]:\n";
}

void put_head(sentence& s, const layout& l, const block& b) noexcept {
  if (b.last - b.first == 1) {
    s << "goroutine " << l.at(b.first).id;
  } else {
    put_ids(s, l, b);
  }
  put_state(s, l.c, l.at(b.first), common_of(l, b));
}

std::string_view why_no_stack(const captured& c, std::size_t frames) noexcept {
  if (c.is_new) return "\n\t(it has not run yet)\n";
  if (frames != 0) return "\n\t(in vole's own code)\n";
  switch (c.reason) {
    case unread::running: return "\n\t(it runs; its thread did not say where)\n";
    case unread::asleep: return "\n\t(its thread sleeps in the kernel, and is left alone)\n";
    case unread::in_call: return "\n\t(in blocking(); its thread is left alone)\n";
    case unread::none: break;
  }
  return "\n\t(its stack is not known)\n";
}

void put_circles(const captured_set& c, text_sink out, void* arg) noexcept {
  struct counting {
    text_sink out;
    void* arg;
    bool any = false;
  } through{out, arg};
  put_cycles(
      c,
      [](std::string_view text, void* to) noexcept {
        auto& t = *static_cast<counting*>(to);
        if (!t.any)
          t.out("These goroutines wait for each other, and none of them can go on:\n", t.arg);
        t.any = true;
        t.out(text, t.arg);
      },
      &through);
  if (through.any) out("\n", arg);
}

}  // namespace

void put_body(const captured& c, const std::uintptr_t* frames, std::size_t n, frame_texts& names,
              text_sink out, void* arg) noexcept {
  if (!names.put_stack(frames, n, out, arg)) {
    names.put_function(reinterpret_cast<std::uintptr_t>(c.invoke), out, arg);
    out(why_no_stack(c, n), arg);
  }
  if (n == kMostFrames) out("(only the innermost 100 calls are looked at)\n", arg);
  static_assert(kMostFrames == 100);
  sentence s;
  s << "created by ";
  if (c.parent != 0) {
    s << "goroutine " << c.parent;
  } else {
    s << "a plain thread";
  }
  s << " in ";
  out(s.view(), arg);
  names.put_call_site(reinterpret_cast<std::uintptr_t>(c.created_at), out, arg);
  out("\n", arg);
}

void write_blocks(captured_set& c, manner how, text_sink out, void* arg) noexcept {
  frame_texts names(how.plain, how.all_frames);
  c.merge_stacks([&names](const std::uintptr_t* frames, std::size_t n) noexcept {
    std::uint64_t h = 0;
    names.put_stack(frames, n, &add_to_hash, &h);
    return h;
  });
  put_circles(c, out, arg);
  layout l(c);
  if (l.blocks == nullptr) return out("(no memory to sort the goroutines)\n\n", arg);
  l.group(how.by_age);
  for (std::size_t i = 0; i < l.n_blocks; ++i) {
    sentence head;
    put_head(head, l, l.blocks[i]);
    out(head.view(), arg);
    std::size_t n;
    const captured& first = l.at(l.blocks[i].first);
    const std::uintptr_t* const frames = c.frames(first, &n);
    put_body(first, frames, n, names, out, arg);
  }
  if (c.left_out() == 0) return;
  sentence s;
  s << "(and " << c.left_out() << " that were born meanwhile)\n\n";
  out(s.view(), arg);
}

void put_one(const captured& c, const std::uintptr_t* frames, std::size_t n, manner how,
             text_sink out, void* arg) noexcept {
  const captured_set none;
  common all;
  all.shortest = all.longest = c.waited_ns;
  all.channels = all.joins = false;
  sentence s;
  s << "goroutine " << c.id;
  put_state(s, none, c, all);
  out(s.view(), arg);
  frame_texts names(how.plain, how.all_frames);
  put_body(c, frames, n, names, out, arg);
}

}  // namespace vole::rt::dump
