#include "picture.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <unordered_map>

#include "../refusal.h"
#include "pause.h"
#include "proc.h"
#include "sweep.h"

namespace vole_command::outside {
namespace {

using vole::root::table;

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

goroutine goroutine_of(const table& t, const record& r) {
  const vole::root::g_places& at = t.g;
  const char* const c = r.copy;
  const auto word = [c](std::uint32_t offset) { return field<std::uint64_t>(c, offset); };
  const auto flags = field<std::uint8_t>(c, at.flags);
  goroutine g;
  g.record = r.at;
  g.id = word(at.id);
  g.parent = word(at.parent);
  g.created_at = word(at.created_at);
  g.invoke = word(at.invoke);
  if (t.waited.callable != 0) g.callable = word(t.waited.callable);
  g.sp = word(at.sp);
  g.stack_lo = word(at.stack_lo);
  g.stack_bytes = field<std::uint32_t>(c, at.stack_bytes);
  g.status = field<std::uint8_t>(c, at.status);
  g.started = (flags & at.started_flag) != 0;
  g.locked = (flags & at.locked_flag) != 0;
  if (g.status != kWaiting) return g;
  g.why = field<std::uint8_t>(c, at.why);
  g.object = word(at.object);
  g.waiting_since = field<std::int64_t>(c, at.waiting_since);
  return g;
}

void add_machines(const vole::root::m_places& at, const sweep& s, picture& p) {
  for (const record& r : s.ms.all) {
    const auto word = [&r](std::uint32_t offset) { return field<std::uint64_t>(r.copy, offset); };
    const auto flag = [&r](std::uint32_t offset) {
      return field<std::uint8_t>(r.copy, offset) != 0;
    };
    if (!flag(at.alive)) continue;
    machine m;
    m.record = r.at;
    m.id = word(at.id);
    m.tid = word(at.tid);
    m.p = word(at.hot_p);
    m.curg = word(at.curg);
    m.locked_g = word(at.locked_g);
    m.call = word(at.call);
    m.idle = flag(at.idle);
    m.polling = flag(at.polling);
    m.spinning = flag(at.spinning);
    m.zombie = flag(at.zombie);
    m.captured = field<std::uint32_t>(r.copy, at.captured) != 0;
    p.machines.push_back(m);
  }
}

std::uint32_t ring_length(std::uint32_t front, std::uint32_t back) {
  const std::uint32_t n = back - front;  // back may be one behind front for a moment
  return static_cast<std::int32_t>(n) > 0 ? n : 0;
}

void add_processors(const vole::root::p_places& at, const sweep& s, picture& p) {
  for (std::size_t i = 0; i < s.scheduler.p_at.size(); ++i) {
    const char* const c = s.scheduler.ps.data() + i * at.bytes;
    const auto word = [c](std::uint32_t offset) { return field<std::uint64_t>(c, offset); };
    const auto half = [c](std::uint32_t offset) { return field<std::uint32_t>(c, offset); };
    processor x;
    x.record = s.scheduler.p_at[i];
    x.m = word(at.m);
    x.id = half(at.id);
    x.queued = ring_length(half(at.front), half(at.back)) + (word(at.runnext) != 0 ? 1 : 0);
    x.ready_next = word(at.ready_next) != 0 ? 1 : 0;
    x.schedtick = half(at.schedtick);
    x.status = field<std::uint8_t>(c, at.status);
    x.switches = word(at.switches);
    x.spawned = word(at.spawned);
    x.finished = word(at.finished);
    x.steals = word(at.steals);
    x.stolen = word(at.stolen);
    x.overflows = word(at.overflows);
    x.hand_offs = word(at.hand_offs);
    x.preemptions = word(at.preemptions);
    x.evictions = word(at.evictions);
    p.processors.push_back(x);
  }
}

void add_totals(const vole::root::sched_places& at, const sweep& s, picture& p) {
  if (s.scheduler.sched.empty()) return;
  const char* const c = s.scheduler.sched.data();
  const auto half = [c](std::uint32_t offset) { return field<std::uint32_t>(c, offset); };
  p.sum.procs = half(at.procs);
  p.sum.idle_procs = half(at.idle_procs);
  p.sum.threads = half(at.m_count);
  p.sum.zombies = half(at.zombies);
  p.sum.evicted = half(at.evicted);
  p.sum.captured_ms = half(at.captured_ms);
  p.sum.spinning = field<std::int32_t>(c, at.spinning);
  p.sum.global_queue = field<std::uint64_t>(c, at.global_queue);
  p.sum.guest_spawned = field<std::uint64_t>(c, at.guest_spawned);
  p.sum.coarse_now = field<std::int64_t>(c, at.coarse_now);
}

// blocking() leaves a mark in the M, which holds for one slice of its P.
void show_calls(picture& p) {
  std::unordered_map<std::uint64_t, goroutine*> by_record;
  for (goroutine& g : p.goroutines) by_record[g.record] = &g;
  for (const machine& m : p.machines) {
    const auto mark = static_cast<std::uint32_t>(m.call);
    const auto g = by_record.find(m.curg);
    if (mark == 0 || g == by_record.end()) continue;
    if (g->second->status != kRunning && g->second->status != kEvicted) continue;
    const auto own = std::find_if(p.processors.begin(), p.processors.end(),
                                  [&m](const processor& x) { return x.record == m.p; });
    if (m.p == 0 || (own != p.processors.end() && own->schedtick + 1 == mark))
      g->second->status = kSyscall;
  }
}

void use_copy(const sweep& now, const sweep* earlier, std::size_t i, goroutine& g) {
  const sweep* const from = now.stack_of[i] == sweep::kKept ? earlier : &now;
  if (from == nullptr) return;
  if (const int k = from->stack_of[i]; k >= 0) {
    const request& r = from->stack_reads[static_cast<std::size_t>(k)];
    if (r.ok) {
      g.copy = r.to;
      g.copy_from = r.from;
      g.copy_bytes = r.bytes;
    }
  }
  if (const int k = from->name_of[i]; k >= 0) {
    const request& r = from->name_reads[static_cast<std::size_t>(k)];
    if (r.ok) g.name.assign(r.to, strnlen(r.to, r.bytes));
  }
}

void add_goroutines(const table& t, const sweep& now, const sweep* earlier, picture& p) {
  for (std::size_t i = 0; i < now.gs.all.size(); ++i) {
    if (!is_alive(t.g, now.gs.all[i].copy)) continue;
    goroutine g = goroutine_of(t, now.gs.all[i]);
    g.thread = now.thread_of[i];
    use_copy(now, earlier, i, g);
    p.goroutines.push_back(std::move(g));
  }
}

void develop(const table& t, sweep& now, sweep* earlier, picture& p) {
  add_goroutines(t, now, earlier, p);
  add_machines(t.m, now, p);
  add_processors(t.p, now, p);
  add_totals(t.sched_at, now, p);
  show_calls(p);
  p.locks = now.locks;
  for (const request& r : now.page_reads)
    if (r.ok) p.pages.push_back({r.from, r.to});
  p.read_again = now.stack_reads.size();
  p.copies.push_back(std::move(now.stacks));
  if (earlier != nullptr) p.copies.push_back(std::move(earlier->stacks));
}

// Threads know themselves by the number of their own namespace.
void name_threads_as_target_does(const std::map<int, int>& numbers,
                                 std::vector<thread_registers>& threads) {
  for (thread_registers& th : threads)
    for (const auto& [own, ours] : numbers)
      if (ours == th.tid) {
        th.tid = own;
        break;
      }
}

picture of_process(const target& t, const found_root& root) {
  sweep first, second;
  picture p;
  first.read_records(t, root);
  first.read_stacks(t, root, {}, nullptr);
  second.make_ready_like(first);
  std::map<int, int> numbers = thread_numbers(t.pid());
  {
    pause stopped(t.pid(), [&] { return threads_of_ms(t, root, &numbers); });
    p.threads = stopped.threads();
    name_threads_as_target_does(numbers, p.threads);
    second.read_records(t, root);
    second.read_stacks(t, root, p.threads, &first);
    second.read_locks(t, root);
    p.taken_at = now_ns();
    stopped.end();
    p.paused_ms = stopped.milliseconds();
  }
  if (threads_of(t.pid()).empty()) throw refusal(t.what() + " ended while it was looked at");
  develop(root.table, second, &first, p);
  return p;
}

picture of_core(const target& t, const found_root& root) {
  sweep only;
  picture p;
  p.threads = t.core()->threads();
  only.read_records(t, root);
  only.read_stacks(t, root, p.threads, nullptr);
  only.read_locks(t, root);
  develop(root.table, only, nullptr, p);
  p.taken_at = p.sum.coarse_now;
  for (const goroutine& g : p.goroutines) p.taken_at = std::max(p.taken_at, g.waiting_since);
  return p;
}

}  // namespace

bool picture::read_word(const goroutine& g, std::uint64_t at, std::uint64_t* word) const {
  if (g.copy != nullptr && at >= g.copy_from && at - g.copy_from < g.copy_bytes &&
      g.copy_bytes - (at - g.copy_from) >= 8) {
    std::memcpy(word, g.copy + (at - g.copy_from), 8);
    return true;
  }
  if (g.thread < 0) return false;
  for (const page& x : pages)
    if (at >= x.from && at - x.from <= kPage - 8) {
      std::memcpy(word, x.copy + (at - x.from), 8);
      return true;
    }
  return false;
}

picture take_picture(const target& t, const found_root& root) {
  return t.core() != nullptr ? of_core(t, root) : of_process(t, root);
}

picture take_records(const target& t, const found_root& root) {
  sweep s;
  picture p;
  s.read_records(t, root);
  s.read_names(t, root);
  p.taken_at = now_ns();
  develop(root.table, s, nullptr, p);
  return p;
}

}  // namespace vole_command::outside
