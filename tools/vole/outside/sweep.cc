#include "sweep.h"

#include <algorithm>

#include "proc.h"

namespace vole_command::outside {
namespace {

using vole::root::g_places;

constexpr std::uint64_t kMostOfStack = 16 << 20;  // of one
constexpr std::uint64_t kLeastOfStack = 8 << 10;  // when all of them are more than kMostInAll
constexpr std::uint64_t kMostInAll = 1 << 30;
constexpr std::uint64_t kHandlerBytes = 64 << 10;  // of an alternate stack

std::uint64_t low(const g_places& at, const char* r) {
  return field<std::uint64_t>(r, at.stack_lo);
}
std::uint64_t top(const g_places& at, const char* r) {
  return low(at, r) + field<std::uint32_t>(r, at.stack_bytes);
}

}  // namespace

bool has_not_moved(const g_places& at, const sweep& earlier, std::size_t i, const char* now) {
  if (i >= earlier.gs.all.size() || earlier.stack_of[i] < 0 ||
      !earlier.stack_reads[static_cast<std::size_t>(earlier.stack_of[i])].ok)
    return false;
  const char* const then = earlier.gs.all[i].copy;
  const auto same = [&](std::uint32_t offset) {
    return std::memcmp(then + offset, now + offset, 8) == 0;
  };
  return field<std::uint8_t>(then, at.status) == kWaiting &&
         field<std::uint8_t>(now, at.status) == kWaiting && same(at.sp) && same(at.id) &&
         same(at.waiting_since) && field<std::int64_t>(then, at.waiting_since) < earlier.coarse_now;
}

void sweep::make_ready_like(const sweep& earlier) {
  gs.memory.make_ready(earlier.gs.memory.used() * 2 + (1 << 20));
  ms.memory.make_ready(earlier.ms.memory.used() * 2 + (1 << 20));
  stacks.make_ready(earlier.stacks.used() / 4 + (4 << 20));
  gs.all.reserve(earlier.gs.all.size() * 2 + 1024);
  stack_of.reserve(earlier.gs.all.size() * 2 + 1024);
  name_of.reserve(earlier.gs.all.size() * 2 + 1024);
  thread_of.reserve(earlier.gs.all.size() * 2 + 1024);
  in_handler_.reserve(earlier.gs.all.size() * 2 + 1024);
  stack_reads.reserve(earlier.stack_reads.size() * 2 + 1024);
}

void sweep::read_records(const target& t, const found_root& root) {
  const vole::root::table& table = root.table;
  t.mem().get(reinterpret_cast<std::uint64_t>(table.sched) + table.sched_at.coarse_now,
              &coarse_now);
  read_slab(t.mem(), table.slab, reinterpret_cast<std::uint64_t>(table.g_slab), table.g.bytes, &gs);
  read_slab(t.mem(), table.slab, reinterpret_cast<std::uint64_t>(table.m_slab), table.m.bytes, &ms);
  read_scheduler(t.mem(), table, &scheduler);
  stack_of.assign(gs.all.size(), kNone);
  name_of.assign(gs.all.size(), kNone);
  thread_of.assign(gs.all.size(), -1);
  in_handler_.assign(gs.all.size(), false);
}

void sweep::find_runners(const found_root& root, const std::vector<thread_registers>& threads) {
  const g_places& at = root.table.g;
  std::vector<std::pair<std::uint64_t, int>> by_sp;
  for (std::size_t i = 0; i < threads.size(); ++i)
    by_sp.push_back({threads[i].sp(), static_cast<int>(i)});
  std::sort(by_sp.begin(), by_sp.end());
  for (std::size_t i = 0; i < gs.all.size(); ++i) {
    const char* const r = gs.all[i].copy;
    if (!has_stack(at, r)) continue;
    const auto found = std::lower_bound(by_sp.begin(), by_sp.end(), std::pair(low(at, r), 0));
    if (found != by_sp.end() && found->first < top(at, r)) thread_of[i] = found->second;
  }
}

// A thread on no goroutine's stack whose M has a goroutine: in a handler, most likely. Its stack
// there, and all of the goroutine's own, are read; the unwinding will tell.
void sweep::find_handlers(const found_root& root, const std::vector<thread_registers>& threads) {
  const g_places& at = root.table.g;
  for (const record& m : ms.all) {
    const auto curg = field<std::uint64_t>(m.copy, root.table.m.curg);
    const auto tid = field<std::uint64_t>(m.copy, root.table.m.tid);
    if (curg == 0 || field<std::uint8_t>(m.copy, root.table.m.alive) == 0) continue;
    const auto th = std::find_if(threads.begin(), threads.end(), [tid](const auto& x) {
      return static_cast<std::uint64_t>(x.tid) == tid;
    });
    const auto g = std::find_if(gs.all.begin(), gs.all.end(),
                                [curg](const record& x) { return x.at == curg; });
    if (th == threads.end() || g == gs.all.end() || !has_stack(at, g->copy)) continue;
    const auto i = static_cast<std::size_t>(g - gs.all.begin());
    if (thread_of[i] >= 0 || field<std::uint8_t>(g->copy, at.status) == kWaiting ||
        field<std::uint8_t>(g->copy, at.status) == kRunnable)
      continue;
    thread_of[i] = static_cast<int>(th - threads.begin());
    in_handler_[i] = true;
    for (std::uint64_t p = th->sp() / kPage * kPage, n = 0; n < kHandlerBytes / kPage; ++n)
      page_reads.push_back({p + n * kPage, kPage, stacks.take(kPage)});
  }
}

// How much of its stack is in use, from *from on; 0: it makes no sense.
std::uint64_t sweep::used_stack(const g_places& at, std::size_t i,
                                const std::vector<thread_registers>& threads,
                                std::uint64_t* from) const {
  const char* const r = gs.all[i].copy;
  const std::uint64_t lo = low(at, r), hi = top(at, r);
  *from = field<std::uint64_t>(r, at.sp);
  if (thread_of[i] >= 0) *from = threads[static_cast<std::size_t>(thread_of[i])].sp();
  if (in_handler_[i]) *from = lo;
  return *from >= lo && *from < hi ? hi - *from : 0;
}

// Of each stack so much that all of them are not too much.
std::uint64_t sweep::share(const g_places& at, const std::vector<thread_registers>& threads) const {
  std::uint64_t all = 0, from;
  for (std::size_t i = 0; i < gs.all.size(); ++i)
    if (has_stack(at, gs.all[i].copy))
      all += std::min(used_stack(at, i, threads, &from), kMostOfStack);
  if (all <= kMostInAll) return kMostOfStack;
  return std::clamp(kMostInAll / (gs.all.size() + 1), kLeastOfStack, kMostOfStack);
}

void sweep::want_stack(const g_places& at, std::size_t i,
                       const std::vector<thread_registers>& threads, std::uint64_t most) {
  std::uint64_t from;
  const std::uint64_t used = used_stack(at, i, threads, &from);
  if (used == 0) return;
  const std::uint64_t bytes = std::min(used, most);
  if (in_handler_[i]) from += used - bytes;
  stack_of[i] = static_cast<int>(stack_reads.size());
  stack_reads.push_back({from, bytes, stacks.take(bytes)});
}

void sweep::want_name(const g_places& at, std::size_t i) {
  const auto name = field<std::uint64_t>(gs.all[i].copy, at.name);
  if (name == 0 || at.name_bytes == 0) return;
  name_of[i] = static_cast<int>(name_reads.size());
  name_reads.push_back({name + at.name_text, at.name_bytes, stacks.take(at.name_bytes)});
}

void sweep::read_names(const target& t, const found_root& root) {
  for (std::size_t i = 0; i < gs.all.size(); ++i)
    if (is_alive(root.table.g, gs.all[i].copy)) want_name(root.table.g, i);
  t.mem().read(name_reads);
}

void sweep::read_stacks(const target& t, const found_root& root,
                        const std::vector<thread_registers>& threads, const sweep* earlier) {
  const g_places& at = root.table.g;
  find_runners(root, threads);
  find_handlers(root, threads);
  const std::uint64_t most = share(at, threads);
  for (std::size_t i = 0; i < gs.all.size(); ++i) {
    const char* const r = gs.all[i].copy;
    if (!is_alive(at, r)) continue;
    if (earlier != nullptr && thread_of[i] < 0 && has_not_moved(at, *earlier, i, r)) {
      stack_of[i] = name_of[i] = kKept;
      continue;
    }
    if (has_stack(at, r)) want_stack(at, i, threads, most);
    want_name(at, i);
  }
  t.mem().read(stack_reads);
  t.mem().read(name_reads);
  t.mem().read(page_reads);
}

void sweep::read_locks(const target& t, const found_root& root) {
  constexpr std::size_t kMost = 256;
  const vole::root::g_places& at = root.table.g;
  bool is_mutex[256] = {};
  for (unsigned i = 0; i < root.table.reasons; ++i) {
    const std::string name = root.reason_name(i);
    is_mutex[i] = name == "mutex" || name.starts_with("shared mutex");
  }
  for (const record& r : gs.all) {
    if (locks.size() == kMost || root.table.waited.locker == 0) break;
    if (field<std::uint8_t>(r.copy, at.status) != kWaiting ||
        !is_mutex[field<std::uint8_t>(r.copy, at.why)])
      continue;
    if (const auto object = field<std::uint64_t>(r.copy, at.object)) locks.try_emplace(object);
  }
  std::vector<request> wanted;
  for (auto& [object, copy] : locks) {
    wanted.push_back(
        {object + root.table.waited.lock_word, 8, reinterpret_cast<char*>(&copy.word)});
    wanted.push_back({object + root.table.waited.locker, 8, reinterpret_cast<char*>(&copy.locker)});
  }
  t.mem().read(wanted);
}

std::vector<int> threads_of_ms(const target& t, const found_root& root,
                               std::map<int, int>* numbers) {
  const vole::root::m_places& at = root.table.m;
  record_set ms;
  read_slab(t.mem(), root.table.slab, reinterpret_cast<std::uint64_t>(root.table.m_slab), at.bytes,
            &ms);
  std::vector<int> tids;
  bool is_fresh = false;
  for (const record& m : ms.all) {
    const auto own = static_cast<int>(field<std::uint64_t>(m.copy, at.tid));
    if (field<std::uint8_t>(m.copy, at.alive) == 0 || own == 0) continue;
    if (!numbers->contains(own) && !is_fresh) {
      *numbers = thread_numbers(t.pid());
      is_fresh = true;
    }
    if (const auto known = numbers->find(own); known != numbers->end())
      tids.push_back(known->second);
  }
  return tids;
}

}  // namespace vole_command::outside
