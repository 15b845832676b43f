#include "root_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "../refusal.h"
#include "registers.h"

namespace vole_command::outside {
namespace {

using vole::root::table;

// The offsets of one kind of record: 32-bit numbers in a row, the record's size first. Sums of them
// are made in 64 bits, here and wherever they are used: an offset near 2^32 must not come round.
template <class T>
bool fit(const T& places, std::initializer_list<std::uint32_t T::*> not_places = {}) {
  constexpr std::size_t n = sizeof(T) / sizeof(std::uint32_t);
  T copy = places;
  for (const auto member : not_places) copy.*member = 0;
  std::uint32_t all[n];
  std::memcpy(all, &copy, sizeof copy);
  if (all[0] < 64 || all[0] > 1 << 20) return false;
  return std::all_of(all + 1, all + n, [&](std::uint32_t at) { return std::uint64_t{at} + 8 <= all[0]; });
}

bool is_sane(const table& t) {
  using namespace vole::root;
  const waited_places& w = t.waited;
  for (const std::uint32_t at : {w.lock_word, w.locker, w.joined_at, w.select_cases, w.select_count,
                                 w.case_bytes, w.case_channel})
    if (at > 4096) return false;
  const slab_places& s = t.slab;
  for (const std::uint32_t at : {s.record_bytes, s.first, s.next, s.used, s.records})
    if (at > 4096) return false;
  return s.largest <= 1 << 30 && t.reasons <= kMostReasons &&
         fit(t.g, {&g_places::name_text, &g_places::name_bytes, &g_places::started_flag,
                   &g_places::locked_flag}) &&
         t.g.name_text <= 4096 && t.g.name_bytes <= 4096 && fit(t.m) && fit(t.p) &&
         fit(t.sched_at, {&sched_places::most_procs}) && t.sched_at.most_procs <= 1 << 16 &&
         t.waited.callable + std::uint64_t{8} <= t.g.bytes &&
         t.sched_at.all + std::uint64_t{t.sched_at.most_procs} * 8 <= t.sched_at.bytes;
}

std::string text_at(const memory& mem, std::uint64_t at) {
  std::string text;
  for (char c; text.size() < 4096 && mem.get(at + text.size(), &c) && c != '\0';) text += c;
  return text;
}

std::string text_of(const char* at, std::size_t most) { return {at, strnlen(at, most)}; }

std::uint64_t root_of(const module& m) {
  std::uint64_t found = 0;
  m.image.for_each_note([&](const elf_note& n) {
    std::int64_t distance;
    if (n.type != vole::root::kNoteType || n.name != vole::root::kNoteName ||
        n.content.size() != sizeof distance)
      return;
    std::memcpy(&distance, n.content.data(), sizeof distance);
    found = m.bias + n.address + static_cast<std::uint64_t>(distance);
  });
  return found;
}

}  // namespace

std::string found_root::status_name(unsigned status) const {
  if (status >= vole::root::kStatuses) return "?";
  return text_of(table.status_names[status], vole::root::kStatusBytes);
}

std::string found_root::reason_name(unsigned why) const {
  if (why >= table.reasons) return "?";
  return text_of(table.reason_names[why], vole::root::kReasonBytes);
}

bool read_root(const memory& mem, std::uint64_t address, const std::string& what,
               found_root* root) {
  constexpr std::size_t kHead = offsetof(table, machine);
  table& t = root->table;
  root->address = address;
  if (!mem.read(address, &t, kHead) || std::memcmp(t.magic, vole::root::kMagic, 8) != 0)
    return false;
  if (t.version != vole::root::kVersion)
    throw refusal("the vole in " + what + " has a root of version " + std::to_string(t.version) +
                  ", and this command knows version " + std::to_string(vole::root::kVersion) +
                  ": use the command that belongs to it");
  // Fields that were added later are zero if the program does not have them.
  constexpr std::size_t kLeast = offsetof(table, waited);
  const std::size_t has = std::min<std::size_t>(t.bytes, sizeof t);
  if (has < kLeast || !mem.read(address, &t, has < sizeof t ? kLeast : has) || t.machine != kMachine ||
      t.pointer_bytes != 8 || !is_sane(t))
    throw refusal(what + " is damaged: vole's root makes no sense");
  constexpr std::string_view kTail = "root/root.cc";
  root->sources = text_at(mem, reinterpret_cast<std::uint64_t>(t.sources));
  if (root->sources.ends_with(kTail))
    root->sources.resize(root->sources.size() - kTail.size());
  else
    root->sources.clear();
  return true;
}

// A library beside the program may have a vole of its own: the one that runs is meant.
found_root find_root(const target& t) {
  found_root first, root;
  for (const module& m : t.modules()) {
    const std::uint64_t at = m.has_image ? root_of(m) : 0;
    if (at == 0 || !read_root(t.mem(), at, t.what(), &root)) continue;
    std::uint32_t procs = 0;
    t.mem().get(reinterpret_cast<std::uint64_t>(root.table.sched) + root.table.sched_at.procs,
                &procs);
    if (procs != 0) return root;
    if (first.address == 0) first = root;
  }
  if (first.address != 0) return first;
  const bool is_cut = t.core() != nullptr && t.core()->is_cut();
  throw refusal("there is no vole in " + t.what() +
                (is_cut ? ", as far as it goes: the file is cut short" : ""));
}

}  // namespace vole_command::outside
