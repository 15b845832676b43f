#include "sched/capture.h"

#include <unwind.h>

#include <cstring>

#include "os/os.h"
#include "sched/call.h"
#include "sched/question.h"
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

constexpr std::size_t kSpare = 4096;  // goroutines that may be born while we prepare
constexpr std::size_t kMostStacks = 1 << 20;

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

std::uint64_t hash_of(const std::uintptr_t* frames, std::size_t n) noexcept {
  std::uint64_t h = 0x9e3779b97f4a7c15u ^ n;
  for (std::size_t i = 0; i < n; ++i) h = (h ^ frames[i]) * 0xff51afd7ed558ccdu, h ^= h >> 32;
  return h;
}

VOLE_READS_AS_IT_IS std::size_t walk_stack(const G& g, walk::row_cache* rows,
                                           std::uintptr_t* out) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(g.stack.lo);
  const void* const sp = g.sp.load(relaxed);
  if (from == 0 || sp == nullptr) return 0;
  return walk::return_addresses(sp, {from, from + g.stack.bytes}, rows, out, kMostFrames);
}

bool waits_for_mutex(const captured& c) noexcept {
  return c.status == g_status::waiting &&
         (c.why == wait_reason::mutex || c.why == wait_reason::shared_mutex_write ||
          c.why == wait_reason::shared_mutex_read);
}

VOLE_READS_AS_IT_IS std::uintptr_t saved_sp(const G& g) noexcept {
  return reinterpret_cast<std::uintptr_t>(g.sp.load(relaxed));
}

// Its stack from there on, if that is on it at all.
VOLE_READS_AS_IT_IS void search_from(std::uintptr_t sp, const captured& c, holders& in) noexcept {
  const auto from = reinterpret_cast<std::uintptr_t>(c.g->stack.lo);
  const std::uintptr_t to = from + c.g->stack.bytes;
  if (from == 0 || sp < from || sp >= to) return;
  in.search(c.id, c.object, {sp / sizeof(sp) * sizeof(sp), to});
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
  if (records_ != nullptr) unmap_pages(records_, records_bytes_);
  if (frames_ != nullptr) unmap_pages(frames_, frames_bytes_);
  if (stacks_ != nullptr) unmap_pages(stacks_, stacks_bytes_);
  if (rows_ != nullptr) unmap_pages(rows_, rows_bytes_);
  if (holders_ != nullptr) unmap_pages(holders_, holders_bytes_);
}

template <class T>
T* capture::map(std::size_t count, std::size_t* bytes) noexcept {
  const std::size_t page = os::page_size();
  *bytes = (count * sizeof(T) + page - 1) / page * page;
  return static_cast<T*>(map_pages(*bytes));
}

bool capture::prepare() noexcept {
  capacity_ = g_slab.count() + kSpare;
  const std::size_t most_stacks = capacity_ < kMostStacks ? capacity_ : kMostStacks;
  stacks_capacity_ = 1024;
  while (stacks_capacity_ < 2 * most_stacks) stacks_capacity_ *= 2;
  frames_capacity_ = 32 * most_stacks;
  records_ = map<captured>(capacity_, &records_bytes_);
  frames_ = map<std::uintptr_t>(frames_capacity_, &frames_bytes_);
  stacks_ = map<stack_entry>(stacks_capacity_, &stacks_bytes_);
  rows_ = map<walk::row_cache>(1, &rows_bytes_);
  holders_ = map<holders>(1, &holders_bytes_);
  if (records_ == nullptr) capacity_ = 0;
  // Here, where nobody waits: the first touch of a page takes the kernel a microsecond.
  auto* const pages = reinterpret_cast<volatile std::byte*>(records_);
  for (std::size_t at = 0; pages != nullptr && at < records_bytes_; at += os::page_size())
    pages[at] = std::byte{0};
  return records_ != nullptr;
}

void capture::take(const G* caller, const own_stack* own, bool stopped, questions* ask) noexcept {
  g_slab.for_each([&](const G* g) {
    const g_status s = status_of(*g);
    if (s != g_status::idle && s != g_status::dead) add(*g, caller, own, stopped, ask);
  });
  find_holders();
}

// While the stacks stand still. Those that run are searched when they have answered.
void capture::find_holders() noexcept {
  if (holders_ == nullptr) return;
  for (std::size_t i = 0; i < size_; ++i)
    if (waits_for_mutex(records_[i])) holders_->wanted(records_[i].object);
  if (!holders_->any()) return;
  for (std::size_t i = 0; i < size_; ++i) {
    const captured& c = records_[i];
    if (c.is_caller) {
      search_from(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), c, *holders_);
    } else if (is_suspended(*c.g)) {
      search_from(saved_sp(*c.g), c, *holders_);
    }
  }
  tell_holders();
}

void capture::tell_holders() noexcept {
  if (holders_ == nullptr || !holders_->any()) return;
  for (std::size_t i = 0; i < size_; ++i)
    if (waits_for_mutex(records_[i])) records_[i].holder = holders_->holder_of(records_[i].object);
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
    if (in != nullptr) c.stack = keep(frames, walk_interrupted(g, in, frames, kMostFrames, &sp));
    return;
  }
  if (is_in_call(*m)) {
    c.status = g_status::syscall;
    c.reason = unread::in_call;
    return;
  }
  c.reason = unread::running;
  if (ask == nullptr) return;
  const auto index = static_cast<std::size_t>(&c - records_);
  if (ask->ask(*m, g, index) == questions::sent::asleep) c.reason = unread::asleep;
}

void capture::take_answers(questions& asked) noexcept {
  asked.wait();
  const bool search = holders_ != nullptr && holders_->any();
  asked.collect(
      [&](std::size_t i, const std::uintptr_t* frames, std::size_t n, std::uintptr_t sp) noexcept {
        records_[i].stack = keep(frames, n);
        records_[i].reason = unread::none;
        if (search) search_from(sp, records_[i], *holders_);
      });
  if (search) tell_holders();
}

void capture::add(const G& g, const G* caller, const own_stack* own, bool stopped,
                  questions* ask) noexcept {
  if (size_ == capacity_) {
    ++left_out_;
    return;
  }
  captured& c = records_[size_++];
  c = record_of(g, &g == caller);
  if (stopped && c.status == g_status::evicted && was_running(g)) c.status = g_status::running;
  const bool on_thread =
      !c.is_caller && (c.status == g_status::running || c.status == g_status::evicted ||
                       c.status == g_status::preempted);
  if (on_thread) return add_running(g, c, ask);
  std::uintptr_t frames[kMostFrames];
  if (c.is_caller && own != nullptr) {
    c.stack = keep(own->at, own->n);
  } else if (!c.is_caller && is_suspended(g)) {
    c.stack = keep(frames, walk_stack(g, rows_, frames));
  }
}

std::uint32_t capture::keep(const std::uintptr_t* frames, std::size_t n) noexcept {
  if (n == 0 || stacks_ == nullptr || frames_ == nullptr) return 0;
  const std::uint64_t h = hash_of(frames, n);
  for (std::size_t i = h;; ++i) {
    const std::size_t at = i & (stacks_capacity_ - 1);
    if (at == 0) continue;  // 0 says that there is none
    stack_entry& e = stacks_[at];
    if (e.n == n && e.hash == h && std::memcmp(frames_ + e.first, frames, n * sizeof *frames) == 0)
      return static_cast<std::uint32_t>(at);
    if (e.n != 0) continue;
    if (stacks_used_ >= stacks_capacity_ / 4 * 3 || frames_used_ + n > frames_capacity_) return 0;
    e = {h, static_cast<std::uint32_t>(frames_used_), static_cast<std::uint32_t>(n), 0};
    std::memcpy(frames_ + frames_used_, frames, n * sizeof *frames);
    frames_used_ += n;
    ++stacks_used_;
    return static_cast<std::uint32_t>(at);
  }
}

// By a second table, of the numbers.
void capture::merge_equal() noexcept {
  std::size_t size = 1024, bytes;
  while (size < 2 * stacks_used_) size *= 2;
  auto* const first = map<std::uint32_t>(size, &bytes);
  if (first == nullptr) return;
  for (std::size_t i = 1; i < stacks_capacity_; ++i) {
    stack_entry& e = stacks_[i];
    if (e.n == 0) continue;
    for (std::size_t k = e.hash;; ++k) {
      std::uint32_t& slot = first[k & (size - 1)];
      if (slot == 0) slot = static_cast<std::uint32_t>(i);
      if (stacks_[slot].hash != e.hash) continue;
      e.same_as = slot;
      break;
    }
  }
  for (std::size_t i = 0; i < size_; ++i)
    if (records_[i].stack != 0) records_[i].stack = stacks_[records_[i].stack].same_as;
  unmap_pages(first, bytes);
}

const std::uintptr_t* capture::frames(const captured& c, std::size_t* n) const noexcept {
  *n = c.stack != 0 ? stacks_[c.stack].n : 0;
  return c.stack != 0 ? frames_ + stacks_[c.stack].first : nullptr;
}

}  // namespace vole::rt
