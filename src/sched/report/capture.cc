#include "sched/report/capture.h"

#include <unwind.h>

#include <cstring>

#include "os/os.h"
#include "sched/life/call.h"
#include "sched/report/question.h"
#include "sched/state.h"

// A dying program takes its picture while others run: what is read then may be of any moment, and
// ThreadSanitizer is not asked.
#if defined(__clang__)
#define VOLE_READS_AS_IT_IS __attribute__((noinline, no_sanitize("thread")))
#else
#define VOLE_READS_AS_IT_IS __attribute__((noinline, no_sanitize_thread))
#endif

namespace vole::rt {
namespace {

constexpr std::size_t kSpare = 4096;  // goroutines that may be started while we prepare

VOLE_READS_AS_IT_IS bool is_suspended(const G& g) noexcept {
  const g_status s = status_of(g);
  return (s == g_status::waiting || s == g_status::runnable) && g.started != 0;
}

// The stop has taken its P, and will give it back.
bool was_running(const G& g) noexcept {
  for (std::uint32_t i = 0, n = sched.procs.load(relaxed); i < n; ++i) {
    const P* const p = sched.p_at(i);
    M* const m = p->taken_from;
    if (m == nullptr) continue;
    holding hold(m->retake_lock);
    if (m->away == p && m->curg == &g) return true;  // away: it has not noticed yet
  }
  return false;
}

VOLE_READS_AS_IT_IS std::size_t walk_stack(const G& g, walk::row_cache* rows,
                                           std::uintptr_t* out) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(g.stack.lo);
  const void* const sp = g.sp.load(relaxed);
  if (from == 0 || sp == nullptr) return 0;
  return walk::return_addresses(sp, {from, from + g.stack.bytes}, rows, out, kMostFrames);
}

VOLE_READS_AS_IT_IS std::uintptr_t saved_sp(const G& g) noexcept {
  return reinterpret_cast<std::uintptr_t>(g.sp.load(relaxed));
}

// Its stack from there on, if that is on it at all.
VOLE_READS_AS_IT_IS void search_from(std::uintptr_t sp, const captured& c, holders& in) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(c.g->stack.lo);
  const std::uintptr_t to = from + c.g->stack.bytes;
  if (from == 0 || sp < from || sp >= to) return;
  const walk::memory used{sp / sizeof(sp) * sizeof(sp), to};
  in.search(c.id, c.object, used.from, used.to,
            [&used](std::uintptr_t at, std::uintptr_t* word) noexcept { return used.read(at, word); });
}

// A word of an object that a goroutine waits for. It is there as long as the goroutine waits, and
// with the world stopped nobody is woken; otherwise the kernel says whether it is there.
VOLE_READS_AS_IT_IS bool read_object(const void* object, std::size_t offset, bool stopped,
                                     std::uintptr_t* word) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(object) + offset;
  if (at % sizeof *word != 0) return false;
  if (!stopped) return os::read_own_memory(at, word);
  return walk::memory{at, at + sizeof *word}.read(at, word);
}

}  // namespace

void own_stack::take() noexcept {
  n = 0;
  _Unwind_Backtrace(
      [](_Unwind_Context* c, void* to) {
        auto& mine = *static_cast<own_stack*>(to);
        const auto pc = static_cast<std::uintptr_t>(_Unwind_GetIP(c));
        if (pc == 0 || mine.n == kMostFrames) return _URC_END_OF_STACK;
        mine.at[mine.n++] = pc;
        return _URC_NO_REASON;
      },
      this);
}

capture::~capture() {
  if (rows_ != nullptr) unmap_pages(rows_, rows_bytes_);
  if (holders_ != nullptr) unmap_pages(holders_, holders_bytes_);
}

bool capture::prepare() noexcept {
  rows_ = map<walk::row_cache>(1, &rows_bytes_);
  holders_ = map<holders>(1, &holders_bytes_);
  return reserve(g_slab.count() + kSpare);
}

void capture::take(const G* caller, const own_stack* own, bool stopped, questions* ask) noexcept {
  g_slab.for_each([&](const G* g) {
    const g_status s = status_of(*g);
    if (s != g_status::idle && s != g_status::dead) add(*g, caller, own, stopped, ask);
  });
  find_holders(stopped);
}

// While the stacks stand still. Those that run are searched when they have answered.
void capture::find_holders(bool stopped) noexcept {
  if (holders_ == nullptr) return;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!waits_for_mutex(at(i)) || !holders_->is_new(at(i).object)) continue;
    std::uintptr_t word = 0, locker = 0;
    if (!read_object(at(i).object, kLockWordAt, stopped, &word) ||
        !read_object(at(i).object, kLockerAt, stopped, &locker))
      continue;
    holders_->wanted(at(i).object, (word & kLockHeld) != 0 ? locker : 0);
  }
  if (!holders_->any()) return;
  holders_->sort();
  for (std::size_t i = 0; i < size(); ++i) {
    const auto from = reinterpret_cast<std::uintptr_t>(at(i).g->stack.lo);
    holders_->match(at(i).id, from, from + at(i).g->stack.bytes);
  }
  if (holders_->is_unsure()) search_stacks();
  tell_holders();
}

void capture::search_stacks() noexcept {
  for (std::size_t i = 0; i < size(); ++i) {
    const captured& c = at(i);
    if (c.is_caller) {
      search_from(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), c, *holders_);
    } else if (is_suspended(*c.g)) {
      search_from(saved_sp(*c.g), c, *holders_);
    }
  }
}

void capture::tell_holders() noexcept {
  for (std::size_t i = 0; i < size(); ++i)
    if (waits_for_mutex(at(i))) at(i).holder = holders_->holder_of(at(i).object);
}

// Which channels a select waits for: its object is a frame on its stack, of no use to a reader.
void capture::add_channels(captured& c, bool stopped) noexcept {
  std::uintptr_t cases, n, channels[kMostCasesShown];
  const void* const frame = c.object;
  c.object = nullptr;
  if (frame == nullptr || !read_object(frame, kSelectCasesAt, stopped, &cases) ||
      !read_object(frame, kSelectCountAt, stopped, &n))
    return;
  std::size_t found = 0;
  for (std::size_t i = 0; i < n && found < kMostCasesShown; ++i) {
    const auto* const one = reinterpret_cast<const void*>(cases + i * kCaseBytes);
    if (!read_object(one, kCaseChannelAt, stopped, &channels[found])) break;
    if (channels[found] != 0) ++found;
  }
  c.channels = keep_channels(channels, found);
}

VOLE_READS_AS_IT_IS captured record_of(const G& g, bool is_caller) noexcept {
  captured c{};
  c.g = &g;
  c.id = g.id;
  std::memcpy(&c.callable, g.callable, sizeof c.callable);
  c.parent = g.parent;
  c.created_at = g.created_at;
  c.invoke = reinterpret_cast<const void*>(g.invoke);
  c.is_caller = is_caller;
  c.status = is_caller ? g_status::running : status_of(g);
  c.is_new = g.started == 0 && c.status == g_status::runnable;
  c.locked = g.locked_m != nullptr;
  const bool waits = c.status == g_status::waiting;
  c.why = waits ? g.why.load(relaxed) : wait_reason::none;
  c.object = waits ? g.wait.object : nullptr;
  c.waited_ns = waits ? os::now_ns() - g.waiting_since.load(relaxed) : -1;
  if (const volatile g_name* const n = g.name; n != nullptr)
    for (std::size_t i = 0; i < sizeof c.name; ++i) c.name[i] = n->text[i];
  return c;
}

// On a thread: with a P, without, or captured there.
void capture::add_running(const G& g, captured& c, questions* ask) noexcept {
  M* const m = thread_of(g);
  if (m == nullptr) return;
  if (c.status == g_status::preempted) {
    std::uintptr_t frames[kMostFrames], sp;
    const void* const in = m->captured_in.load(std::memory_order_acquire);  // pairs: on_slice_signal
    if (in != nullptr) c.stack = keep_stack(frames, walk_interrupted(g, in, frames, kMostFrames, &sp));
    return;
  }
  if (is_in_call(*m)) {
    c.status = g_status::syscall;
    c.reason = unread::in_call;
    return;
  }
  c.reason = unread::running;
  if (ask == nullptr) return;
  const auto index = static_cast<std::size_t>(&c - &at(0));
  if (ask->ask(*m, g, index) == questions::sent::asleep) c.reason = unread::asleep;
}

void capture::take_answers(questions& asked) noexcept {
  asked.wait();
  const bool search = holders_ != nullptr && holders_->is_unsure();
  asked.collect(
      [&](std::size_t i, const std::uintptr_t* frames, std::size_t n, std::uintptr_t sp) noexcept {
        at(i).stack = keep_stack(frames, n);
        at(i).reason = unread::none;
        if (search) search_from(sp, at(i), *holders_);
      });
  if (search) tell_holders();
}

void capture::add(const G& g, const G* caller, const own_stack* own, bool stopped,
                  questions* ask) noexcept {
  captured* const place = captured_set::add();
  if (place == nullptr) return;
  captured& c = *place;
  c = record_of(g, &g == caller);
  if (c.why == wait_reason::select) add_channels(c, stopped);
  if (stopped && c.status == g_status::evicted && was_running(g)) c.status = g_status::running;
  const bool on_thread =
      !c.is_caller && (c.status == g_status::running || c.status == g_status::evicted ||
                       c.status == g_status::preempted);
  if (on_thread) return add_running(g, c, ask);
  std::uintptr_t frames[kMostFrames];
  if (c.is_caller && own != nullptr) {
    c.stack = keep_stack(own->at, own->n);
  } else if (!c.is_caller && is_suspended(g)) {
    c.stack = keep_stack(frames, walk_stack(g, rows_, frames));
  }
}

}  // namespace vole::rt
