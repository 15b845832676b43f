#include "sched/report/reporter.h"

#include <new>
#include <string>

#include "base/fatal.h"
#include "base/lock.h"
#include "os/os.h"
#include "sched/life/call.h"
#include "sched/life/enter.h"
#include "sched/report/inspect.h"
#include "sched/report/question.h"
#include "sched/state.h"

namespace vole::rt::reporter {
namespace {

constexpr std::int64_t kSecond = 1000 * 1000 * 1000;
constexpr std::size_t kPlaces = 64;

enum class mail : std::uint32_t { none, filling, there };

// A goroutine that stalls, and where it comes from.
struct stalled {
  M* m;
  std::uint64_t id;
  std::int64_t ns;
  std::uint32_t runtime;  // which one: m is its own
};
struct place {
  const void *created_at, *invoke;
  std::int64_t told_at;
};

struct reporter_state {
  atomic<std::uint32_t> wake_word{0};  // futex word
  atomic<bool> dump_wanted{false};
  atomic<mail> letter{mail::none};
  stalled stall{};                   // written before the letter is there
  atomic<std::uint32_t> runtime{0};  // counts them
  atomic<std::uint32_t> threads{0};
  atomic<bool> starting{false};
  place told[kPlaces] = {};  // the reporter's
};
constinit reporter_state own;

void rouse() noexcept {
  own.wake_word.fetch_add(1, seq_cst);
  futex_wake(&own.wake_word, 1);
}

void to_stderr(std::string_view text, void*) noexcept { write_stderr(text.data(), text.size()); }

void dump_now() noexcept {
  capture picture;
  if (!take_picture(picture, true)) return to_stderr("vole: no memory for a dump\n", nullptr);
  sentence s;
  s << "vole: SIGQUIT: ";
  if (picture.size() == 0) {
    s << "no runtime runs\n";
  } else {
    s << picture.size() << (picture.size() == 1 ? " goroutine\n\n" : " goroutines\n\n");
  }
  to_stderr(s.view(), nullptr);
  dump::write(picture, false, &to_stderr, nullptr);
}

// At most one a second.
bool may_tell(const captured& c, std::int64_t now) noexcept {
  place* oldest = &own.told[0];
  for (place& p : own.told) {
    if (p.created_at == c.created_at && p.invoke == c.invoke && p.told_at != 0) {
      if (now - p.told_at < kSecond) return false;
      p.told_at = now;
      return true;
    }
    if (p.told_at < oldest->told_at) oldest = &p;
  }
  *oldest = {c.created_at, c.invoke, now};
  return true;
}

// Inside, as a guest. False: it has gone on meanwhile, or its place was told of a moment ago.
bool look_at_stalled(const stalled& s, captured* c, own_stack* stack) noexcept {
  const G* const g = goroutine_on(*s.m);
  if (g == nullptr || !s.m->alive.load(std::memory_order_acquire)) return false;
  *c = record_of(*g, false);
  if (c->id != s.id || !may_tell(*c, os::now_ns())) return false;
  questions asked;
  c->reason = asked.ask(*s.m, *g, 0) == questions::sent::asleep ? unread::asleep : unread::running;
  asked.wait();
  asked.collect(
      [&](std::size_t, const std::uintptr_t* frames, std::size_t n, std::uintptr_t) noexcept {
        for (stack->n = 0; stack->n < n; ++stack->n) stack->at[stack->n] = frames[stack->n];
        c->reason = unread::none;
      });
  return true;
}

void tell(const captured& c, const own_stack& stack, std::int64_t ns) {
  std::string text;  // one write: readers get it in one piece
  sentence s;
  s << "vole: goroutine " << c.id;
  put_name(s, c.name);
  s << " has not yielded for " << ns / (1000 * 1000) << " ms:\n";
  text += s.view();
  dump::body(
      c, stack,
      [](std::string_view more, void* to) noexcept { *static_cast<std::string*>(to) += more; },
      &text);
  to_stderr(text, nullptr);
}

void tell_of_stall(const stalled& s) {
  captured c{};
  own_stack stack;
  const bool running = guest_enter();
  const bool same = running && own.runtime.load(seq_cst) == s.runtime;
  const bool tells = same && look_at_stalled(s, &c, &stack);
  guest_leave();
  if (tells) tell(c, stack, s.ns);
}

void work() {
  if (own.dump_wanted.exchange(false, seq_cst)) dump_now();
  if (own.letter.load(std::memory_order_acquire) != mail::there) return;
  const stalled s = own.stall;
  own.letter.store(mail::none, std::memory_order_release);
  tell_of_stall(s);
}

void reporter_main(void*) noexcept {
  for (;;) {
    const std::uint32_t seen_word = own.wake_word.load(seq_cst);
    try {
      work();
    } catch (const std::bad_alloc&) {
      to_stderr("vole: no memory for a report\n", nullptr);
    }
    futex_wait(&own.wake_word, seen_word);
  }
}

}  // namespace

int start() noexcept {
  if (own.threads.load(seq_cst) != 0) return 0;
  if (own.starting.exchange(true, seq_cst)) return 0;  // somebody else is at it
  os::thread_spec spec;
  spec.main = &reporter_main;
  spec.name = "vole-reports";
  spec.block_signals = true;
  os::thread thread;
  own.threads.store(1, seq_cst);
  const int error = os::create_thread(&thread, spec);
  if (error == 0) {
    os::detach_thread(thread);
  } else {
    own.threads.store(0, seq_cst);
    own.starting.store(false, seq_cst);
  }
  return error;
}

std::uint32_t threads() noexcept { return own.threads.load(seq_cst); }

int dump_on_sigquit() noexcept {
  if (const int error = start()) return error;
  return os::install_quit_handler(&ask_for_dump);
}

void new_runtime() noexcept { own.runtime.fetch_add(1, seq_cst); }

void ask_for_dump() noexcept {
  own.dump_wanted.store(true, seq_cst);
  rouse();
}

bool report_stall(M& m, std::uint64_t id, std::int64_t ns) noexcept {
  mail none = mail::none;
  if (!own.letter.compare_exchange_strong(none, mail::filling, seq_cst)) return false;
  own.stall = {&m, id, ns, own.runtime.load(relaxed)};
  own.letter.store(mail::there, seq_cst);
  rouse();
  return true;
}

}  // namespace vole::rt::reporter
