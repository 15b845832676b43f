#include "sched/report/schedtrace.h"

#include <cstring>
#include <string_view>

#include "base/fatal.h"
#include "base/system.h"
#include "sched/life/call.h"
#include "sched/hold/safe_point.h"
#include "sched/state.h"
#include "sched/wait/p_timers.h"
#include "sched/hold/world.h"

namespace vole::rt::schedtrace {
namespace {

constexpr std::int64_t kMilli = 1000 * 1000;
constexpr std::size_t kRoom = 256 * 1024;
constexpr std::size_t kLine = 256;  // more than any line but the first one is long

// The text to write, put together in memory that is always there.
class page {
 public:
  void clear() noexcept { size_ = 0; }
  bool has_room() const noexcept { return size_ + 2 * kLine < kRoom; }
  page& operator<<(std::string_view text) noexcept {
    const std::size_t n = text.size() < kRoom - size_ ? text.size() : kRoom - size_;
    if (n != 0) std::memcpy(text_ + size_, text.data(), n);  // of nothing, data() may be null
    size_ += n;
    return *this;
  }
  page& operator<<(const char* text) noexcept { return *this << std::string_view(text); }
  page& operator<<(std::uint64_t n) noexcept { return *this << (sentence() << n).view(); }
  page& yes(bool b) noexcept { return *this << (b ? "true" : "false"); }
  // An id, or nil: 0.
  page& id(std::uint64_t n) noexcept { return n != 0 ? *this << n : *this << "nil"; }
  void write() const noexcept { write_stderr(text_, size_); }

 private:
  std::size_t size_ = 0;
  char text_[kRoom] = {};
};

// The counts of one P, at one instant.
struct entry {
  std::uint64_t queued, ready_next, tick;
};

struct trace_state {
  std::int64_t began, due;
  entry of[kMaxProcs];
  std::size_t timers[kMaxProcs];
  page out;
};
constinit trace_state own{};

std::int64_t period() noexcept { return std::int64_t{sched.settings.schedtrace_ms} * kMilli; }

std::uint64_t queued_on(const P& p) noexcept {
  return p.ring.size() + (p.runnext.load(relaxed) != nullptr ? 1u : 0u);
}
std::uint64_t ready_next_on(const P& p) noexcept { return p.ready_next.load(relaxed) != nullptr ? 1 : 0; }

void put_totals_locked(page& out, std::uint64_t idle_ps, std::int64_t now) noexcept
    VOLE_REQUIRES(sched.lock) {
  const int spinning = sched.parking.spinning.load(relaxed);
  out << "SCHED " << static_cast<std::uint64_t>((now - own.began) / kMilli)
      << "ms: maxprocs=" << std::uint64_t{sched.procs.load(relaxed)} << " idleprocs=" << idle_ps
      << " threads=" << std::uint64_t{sched.m_count}
      << " spinningthreads=" << static_cast<std::uint64_t>(spinning > 0 ? spinning : 0)
      << " needspinning=" << static_cast<std::uint64_t>(sched.parking.need_spinning.load(relaxed))
      << " idlethreads=" << std::uint64_t{sched.idle_ms.size()}
      << " runqueue=" << std::uint64_t{sched.global_hint()};
}

// A safe point: the owner moves no goroutine from one place to the next while it
// is counted.
void note_down(P& p, void*) noexcept {
  own.of[p.id] = {queued_on(p), ready_next_on(p), p.schedtick.load(relaxed)};
}

void put_line(page& out, std::int64_t now) noexcept {
  const std::uint32_t n = safe_point::on_every_p_inside(&note_down, nullptr);
  holding hold(sched.lock);
  put_totals_locked(out, sched.idle_p_count.load(relaxed), now);
  out << " [ ";
  for (std::uint32_t i = 0; i < n; ++i) out << own.of[i].queued << " ";
  out << "] schedticks=[ ";
  std::uint64_t ready_next = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    out << own.of[i].tick << " ";
    ready_next += own.of[i].ready_next;
  }
  out << "] evicted=" << std::uint64_t{sched.evicted.load(relaxed)} << " readynext=" << ready_next << "\n";
}

// ── the page ── with the world stopped, under L

// A goroutine whose P the stop has taken, and which will get it back: it counts as running.
const M* runner_of(const P& p) noexcept {
  M* const m = p.taken_from;
  if (m == nullptr) return nullptr;
  holding hold(m->retake_lock);
  return m->away == &p ? m : nullptr;
}

const P* p_of(const M& m) noexcept {
  const std::uint32_t n = sched.procs.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i)
    if (const P& p = *sched.p_at(i); p.taken_from == &m && runner_of(p) != nullptr) return &p;
  return nullptr;
}

// They count as evicted as long as the world is stopped.
std::uint32_t stopped_runners(std::uint32_t n) noexcept {
  std::uint32_t runners = 0;
  for (std::uint32_t i = 0; i < n; ++i) runners += runner_of(*sched.p_at(i)) != nullptr ? 1u : 0u;
  return runners;
}

void put_p(page& out, const P& p) noexcept {
  const M* const m = runner_of(p);
  out << "  P" << std::uint64_t{p.id} << ": status="
      << (p.was_idle     ? "idle"
          : m != nullptr ? "running"
                         : "stopped")
      << " schedtick=" << std::uint64_t{p.schedtick.load(relaxed)}
      << " syscalltick=" << (m != nullptr ? calls_of(*m) : 0) << " m=";
  out.id(m != nullptr ? m->id : 0);
  out << " runqsize=" << queued_on(p) << " gfreecnt=" << std::uint64_t{p.free_gs.size()}
      << " timerslen=" << std::uint64_t{own.timers[p.id]} << " readynext=" << ready_next_on(p) << "\n";
}

void put_m(page& out, const M& m) noexcept {
  const G* const g = goroutine_on(m);
  const P* const p = p_of(m);
  out << "  M" << m.id << ": p=";
  p != nullptr ? out << std::uint64_t{p->id} : out << "nil";
  out << " curg=";
  out.id(g != nullptr ? g->id : 0)
      << " locks=" << static_cast<std::uint64_t>(m.undisturbed.load(relaxed)) << " spinning=";
  const bool blocked =
      m.idle.load(relaxed) || m.polling.load(relaxed) || m.captured.load(relaxed) != 0;
  out.yes(m.idle.load(relaxed) ? false : m.spinning) << " blocked=";
  out.yes(blocked) << " lockedg=";
  out.id(m.locked_g != nullptr ? m.locked_g->id : 0) << "\n";
}

void put_g(page& out, const G& g, g_status s) noexcept {
  const M* on = nullptr;
  if (s == g_status::running || s == g_status::evicted || s == g_status::preempted)
    m_slab.for_each([&](const M* m) {
      if (m->alive.load(std::memory_order_acquire) && goroutine_on(*m) == &g) on = m;
    });
  if (on != nullptr && s == g_status::evicted && p_of(*on) != nullptr) s = g_status::running;
  if (on != nullptr && s != g_status::preempted && is_in_call(*on)) s = g_status::syscall;
  out << "  G" << g.id << ": status=" << name_of(s) << "("
      << (s == g_status::waiting ? name_of(g.why.load(relaxed)) : std::string_view()) << ") m=";
  out.id(on != nullptr ? on->id : 0) << " lockedm=";
  out.id(g.locked_m != nullptr ? g.locked_m->id : 0) << "\n";
}

void put_goroutines(page& out) noexcept {
  std::uint64_t left_out = 0;
  g_slab.for_each([&](const G* g) {
    const g_status s = status_of(*g);
    if (s == g_status::idle || s == g_status::dead) return;
    out.has_room() ? put_g(out, *g, s) : (void)++left_out;
  });
  if (left_out != 0) out << "  and " << left_out << " goroutines more\n";
}

void put_page_stopped(page& out, std::int64_t now) noexcept {
  const std::uint32_t n = sched.procs.load(relaxed);
  for (std::uint32_t i = 0; i < n; ++i) own.timers[i] = timers_of(i);  // their locks come before L
  holding hold(sched.lock);
  std::uint64_t idle = 0, locked = 0, ready_next = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    idle += sched.p_at(i)->was_idle ? 1u : 0u;
    ready_next += ready_next_on(*sched.p_at(i));
  }
  m_slab.for_each([&](const M* m) {
    const bool waits = m->alive.load(std::memory_order_acquire) && m->idle.load(relaxed);
    locked += waits && m->locked_g != nullptr ? 1u : 0u;
  });
  put_totals_locked(out, idle, now);
  // The stop is ours: nobody else stops the world, and sysmon is awake.
  out << " gcwaiting=false nmidlelocked=" << locked
      << " stopwait=" << std::uint64_t{sched.stop_wait} << " sysmonwait=false evicted="
      << std::uint64_t{sched.evicted.load(relaxed) - stopped_runners(n)} << " readynext=" << ready_next
      << "\n";
  for (std::uint32_t i = 0; i < n; ++i) put_p(out, *sched.p_at(i));
  m_slab.for_each([&](const M* m) {
    if (m->alive.load(std::memory_order_acquire) && out.has_room()) put_m(out, *m);
  });
  put_goroutines(out);
}

}  // namespace

void begin(std::int64_t now) noexcept {
  own.began = now;
  own.due = sched.settings.schedtrace_ms != 0 ? now + period() : kNoTimer;
}

std::int64_t due() noexcept { return own.due; }

void look(std::int64_t now) noexcept {
  if (now < own.due) return;
  own.due += period();
  if (own.due <= now) own.due = now + period();  // we were late: those are left out
  page& out = own.out;
  out.clear();
  if (sched.settings.scheddetail) {
    world::stop("scheddetail");
    put_page_stopped(out, now);
    world::start();
  } else {
    put_line(out, now);
  }
  out.write();
}

}  // namespace vole::rt::schedtrace
