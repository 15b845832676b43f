#include "page.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace vole_command::outside {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

// 1234567 as 1.2M: columns stay narrow.
std::string short_number(double n) {
  if (n < 10000) return format("%.0f", n);
  if (n < 1e6) return format("%.0fk", n / 1e3);
  return format("%.1fM", n / 1e6);
}

// What a program calls its goroutines must not move the cursor of our terminal.
std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    out += code < 0x20 || code == 0x7f ? format("\\x%02x", code) : std::string(1, c);
  }
  return out;
}

// Columns, not bytes: what follows the first byte of a character in UTF-8 takes none.
void cut(std::string& line, std::size_t columns) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xc0) == 0x80) continue;
    if (used++ == columns) return line.resize(i);
  }
}

struct counts {
  std::uint64_t switches = 0, steals = 0, evictions = 0, preemptions = 0, spawned = 0, finished = 0;
};

counts counts_of(const picture& p) {
  counts c;
  c.spawned = p.sum.guest_spawned;
  for (const processor& x : p.processors) {
    c.switches += x.switches;
    c.steals += x.steals;
    c.evictions += x.evictions;
    c.preemptions += x.preemptions;
    c.spawned += x.spawned;
    c.finished += x.finished;
  }
  return c;
}

struct page {
  const picture& before;
  const picture& now;
  const found_root& root;
  const std::function<std::string(std::uint64_t)>& function_of;
  std::unordered_map<std::uint64_t, const goroutine*> g_at{};
  std::unordered_map<std::uint64_t, const machine*> m_at{};
  std::vector<std::string> lines{};

  double seconds() const {
    return std::max(static_cast<double>(now.taken_at - before.taken_at) / 1e9, 1e-3);
  }
  std::string rate(std::uint64_t then, std::uint64_t later) const {
    return short_number(later > then ? static_cast<double>(later - then) / seconds() : 0) + "/s";
  }
  void put_totals();
  void put_processors();
  void put_goroutines();
  std::string runs_on(const processor& x) const;
  std::string state_of(const goroutine& g) const;
};

void page::put_totals() {
  std::uint64_t by_status[vole::root::kStatuses] = {};
  for (const goroutine& g : now.goroutines)
    if (g.status < vole::root::kStatuses) ++by_status[g.status];
  std::string line = format("goroutines %zu:", now.goroutines.size());
  for (unsigned i = 0; i < vole::root::kStatuses; ++i)
    if (by_status[i] != 0)
      line += format(" %llu %s", static_cast<unsigned long long>(by_status[i]),
                     root.status_name(i).c_str());
  lines.push_back(line);
  const auto idle = static_cast<std::size_t>(std::count_if(
      now.machines.begin(), now.machines.end(), [](const machine& m) { return m.idle; }));
  line = format("Ps %u: %u idle; threads %u: %zu idle, %d spinning", now.sum.procs,
                now.sum.idle_procs, now.sum.threads, idle, now.sum.spinning);
  if (now.sum.captured_ms != 0) line += format(", %u stopped by a signal", now.sum.captured_ms);
  if (now.sum.zombies != 0) line += format(", %u of an earlier run", now.sum.zombies);
  lines.push_back(line + format("; global queue %llu; evicted %u",
                                static_cast<unsigned long long>(now.sum.global_queue),
                                now.sum.evicted));
  const counts a = counts_of(before), b = counts_of(now);
  lines.push_back("switches " + rate(a.switches, b.switches) + "  steals " +
                  rate(a.steals, b.steals) + "  evictions " + rate(a.evictions, b.evictions) +
                  "  preemptions " + rate(a.preemptions, b.preemptions) + "  born " +
                  rate(a.spawned, b.spawned) + "  ended " + rate(a.finished, b.finished));
}

std::string page::runs_on(const processor& x) const {
  const auto m = m_at.find(x.m);
  if (x.status != 1 || m == m_at.end()) return x.status == 0 ? "idle" : "";
  const auto g = g_at.find(m->second->curg);
  if (g == g_at.end()) return m->second->spinning ? "looks for work" : "in the scheduler";
  std::string text = format("goroutine %llu", static_cast<unsigned long long>(g->second->id));
  if (!g->second->name.empty()) text += " (" + printable(g->second->name) + ")";
  if (g->second->status == kSyscall) text += " [syscall]";
  return text + " " + function_of(g->second->invoke);
}

void page::put_processors() {
  lines.push_back("");
  lines.push_back("   P thread  queue  switches    steals evictions  runs");
  for (std::size_t i = 0; i < now.processors.size() && i < now.sum.procs; ++i) {
    const processor& x = now.processors[i];
    const processor then = i < before.processors.size() ? before.processors[i] : processor();
    const auto m = m_at.find(x.m);
    const std::uint64_t tid = x.status == 1 && m != m_at.end() ? m->second->tid : 0;
    lines.push_back(
        format("%4u %6s %6u %9s %9s %9s  ", x.id, tid != 0 ? std::to_string(tid).c_str() : "-",
               x.queued + x.ready_next, rate(then.switches, x.switches).c_str(),
               rate(then.steals, x.steals).c_str(), rate(then.evictions, x.evictions).c_str()) +
        runs_on(x));
  }
}

std::string page::state_of(const goroutine& g) const {
  const std::string why = g.status == kWaiting ? root.reason_name(g.why) : std::string();
  return why.empty() ? root.status_name(g.status) : why;
}

void page::put_goroutines() {
  struct kind_count {
    std::uint64_t n = 0;
    std::int64_t longest = 0;
  };
  std::map<std::tuple<std::uint64_t, std::uint8_t, std::uint8_t>, kind_count> kinds;
  std::map<std::tuple<std::uint64_t, std::uint8_t, std::uint8_t>, std::string> states;
  for (const goroutine& g : now.goroutines) {
    const std::tuple key(g.invoke, g.status, g.why);
    kind_count& k = kinds[key];
    if (k.n++ == 0) states[key] = state_of(g);
    if (g.status == kWaiting) k.longest = std::max(k.longest, now.taken_at - g.waiting_since);
  }
  using line_of = std::pair<kind_count, std::string>;
  std::vector<line_of> order;
  for (const auto& [key, k] : kinds)
    order.push_back({k, format("%-28s ", states[key].c_str()) + function_of(std::get<0>(key))});
  std::sort(order.begin(), order.end(), [](const line_of& a, const line_of& b) {
    return a.first.n != b.first.n ? a.first.n > b.first.n : a.second < b.second;
  });
  lines.push_back("");
  lines.push_back("  goroutines  longest  state                        function");
  for (const auto& [k, text] : order) {
    const double seconds_waited = static_cast<double>(k.longest) / 1e9;
    lines.push_back(format("%12llu %8s  ", static_cast<unsigned long long>(k.n),
                           k.longest > 0 ? format("%.1f s", seconds_waited).c_str() : "-") +
                    text);
  }
}

}  // namespace

std::string page_of(const picture& before, const picture& now, const found_root& root,
                    const std::string& title, page_size size,
                    const std::function<std::string(std::uint64_t)>& function_of) {
  page p{before, now, root, function_of};
  for (const goroutine& g : now.goroutines) p.g_at[g.record] = &g;
  for (const machine& m : now.machines) p.m_at[m.record] = &m;
  p.lines.push_back(printable(title));
  p.put_totals();
  p.put_processors();
  p.put_goroutines();
  if (size.rows != 0 && p.lines.size() > size.rows) p.lines.resize(size.rows);
  std::string text;
  for (std::string& line : p.lines) {
    if (size.columns != 0) cut(line, size.columns);
    text += line + "\n";
  }
  return text;
}

}  // namespace vole_command::outside
