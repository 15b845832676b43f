#include "text.h"

#include <cstring>
#include <memory>
#include <new>

#include "sched/report/dump_text.h"
#include "sched/report/holders.h"

namespace vole_command::outside {
namespace {

using vole::rt::captured;
using vole::rt::g_status;
using vole::rt::wait_reason;

// Numbers of the target's become ours by their names.
class translation {
 public:
  explicit translation(const found_root& root) {
    for (unsigned i = 0; i < vole::root::kStatuses; ++i)
      for (unsigned k = 0; k < vole::root::kStatuses; ++k)
        if (root.status_name(i) == name_of(static_cast<g_status>(k)))
          statuses_[i] = static_cast<g_status>(k);
    for (unsigned i = 0; i < root.table.reasons; ++i)
      for (int k = 0; k < vole::rt::kWaitReasons; ++k)
        if (root.reason_name(i) == name_of(static_cast<wait_reason>(k)))
          reasons_[i] = static_cast<wait_reason>(k);
  }
  g_status status(std::uint8_t theirs) const {
    return theirs < vole::root::kStatuses ? statuses_[theirs] : g_status::idle;
  }
  wait_reason reason(std::uint8_t theirs) const {
    return theirs < vole::root::kMostReasons ? reasons_[theirs] : wait_reason::none;
  }

 private:
  g_status statuses_[vole::root::kStatuses] = {};
  wait_reason reasons_[vole::root::kMostReasons] = {};
};

const void* pointer(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

captured captured_of(const picture& p, const found_root& root, const translation& ours,
                     const goroutine& g) {
  captured c{};
  c.id = g.id;
  c.parent = g.parent;
  c.created_at = pointer(g.created_at);
  c.invoke = pointer(g.invoke);
  c.callable = root.table.waited.joined_at == vole::rt::kJoinedAt ? g.callable : 0;
  c.status = ours.status(g.status);
  c.is_new = c.status == g_status::runnable && !g.started;
  c.locked = g.locked;
  c.waited_ns = -1;
  g.name.copy(c.name, sizeof c.name - 1);
  if (c.status != g_status::waiting) return c;
  c.why = ours.reason(g.why);
  c.object = pointer(g.object);
  c.waited_ns = p.taken_at - g.waiting_since;
  return c;
}

// As far as its cases are on its stack.
void add_channels(const picture& p, const found_root& root, const goroutine& g,
                  vole::rt::captured_set& set, captured& c) {
  const vole::root::waited_places& at = root.table.waited;
  std::uint64_t cases, n, channels[vole::rt::kMostCasesShown];
  const std::uint64_t frame = reinterpret_cast<std::uint64_t>(c.object);
  c.object = nullptr;
  if (at.case_bytes == 0 || !p.read_word(g, frame + at.select_cases, &cases) ||
      !p.read_word(g, frame + at.select_count, &n))
    return;
  std::size_t found = 0;
  for (std::uint64_t i = 0; i < n && found < vole::rt::kMostCasesShown; ++i) {
    if (!p.read_word(g, cases + i * at.case_bytes + at.case_channel, &channels[found])) break;
    if (channels[found] != 0) ++found;
  }
  c.channels = set.keep_channels(channels, found);
}

void search_stacks(const picture& p, const vole::rt::captured_set& set, vole::rt::holders& in) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    const goroutine& g = p.goroutines[i];
    if (g.copy == nullptr) continue;
    const std::uint64_t from = (g.copy_from + 7) / 8 * 8;
    in.search(g.id, set.at(i).object, from, g.copy_from + g.copy_bytes,
              [&](std::uintptr_t at, std::uintptr_t* word) { return p.read_word(g, at, word); });
  }
}

void find_holders(const picture& p, const found_root& root, vole::rt::captured_set& set) {
  const auto in = std::make_unique<vole::rt::holders>();
  for (const auto& [object, copy] : p.locks)
    in->wanted(pointer(object), (copy.word & root.table.waited.lock_held) != 0 ? copy.locker : 0);
  if (!in->any()) return;
  in->sort();
  for (const goroutine& g : p.goroutines) in->match(g.id, g.stack_lo, g.stack_lo + g.stack_bytes);
  if (in->is_unsure()) search_stacks(p, set, *in);
  for (std::size_t i = 0; i < set.size(); ++i)
    if (waits_for_mutex(set.at(i))) set.at(i).holder = in->holder_of(set.at(i).object);
}

}  // namespace

std::string text_of(const picture& p, const found_root& root,
                    const std::vector<std::vector<std::uint64_t>>& frames, bool all_frames) {
  constexpr std::size_t kSpare = 4096;  // room for a few deep stacks
  vole::rt::captured_set set;
  if (!set.reserve(p.goroutines.size() + kSpare)) throw std::bad_alloc();
  const translation ours(root);
  for (std::size_t i = 0; i < p.goroutines.size(); ++i) {
    captured& c = *set.add();
    c = captured_of(p, root, ours, p.goroutines[i]);
    if (c.why == wait_reason::select) add_channels(p, root, p.goroutines[i], set, c);
    c.stack = set.keep_stack(frames[i].data(), frames[i].size());
  }
  find_holders(p, root, set);
  std::string out;
  vole::rt::dump::write_blocks(
      set, {.plain = false, .all_frames = all_frames, .by_age = false},
      [](std::string_view text, void* to) noexcept { static_cast<std::string*>(to)->append(text); },
      &out);
  return out;
}

}  // namespace vole_command::outside
