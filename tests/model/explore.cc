// The explorer: fibers, turns, and the walk through the tree of choices.
//
// Note   fibers are started once by ucontext and then entered by _longjmp, which
//        makes no system call; an abandoned one starts over at its base.
#undef _FORTIFY_SOURCE  // its longjmp refuses to change stacks

#include "explore.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <cstring>
#include <ctime>

#include "engine.h"

namespace model {

engine the;

namespace {

constexpr std::size_t kStack = 256 * 1024;
jmp_buf bases[kThreads];
jmp_buf saved[kThreads];
ucontext_t boot, born;
bool made[kThreads] = {};

void fiber_entry(int id) {
  if (_setjmp(bases[id]) == 0) setcontext(&boot);
  the.threads[the.current].body();
  the.finish_thread();
}

void make_fiber(int id) {
  if (made[id]) return;
  made[id] = true;
  getcontext(&born);
  born.uc_stack.ss_sp = mmap(nullptr, kStack, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  born.uc_stack.ss_size = kStack;
  born.uc_link = nullptr;
  makecontext(&born, reinterpret_cast<void (*)()>(fiber_entry), 1, id);
  swapcontext(&boot, &born);
}

}  // namespace

bool dependent(const pending& a, const pending& b) noexcept {
  if (a.kind == step::barrier || b.kind == step::barrier) return true;
  if (a.kind == step::start || b.kind == step::start) return false;
  if (a.kind == step::fence) return b.kind == step::fence || b.sc;
  if (b.kind == step::fence) return a.sc;
  return a.where == b.where && (a.writes() || b.writes() || (a.sc && b.sc));
}

void engine::reset() {
  for (int i = 0; i < thread_count; ++i) threads[i] = thread{};
  threads[0].cur.clock[0] = 1;
  thread_count = 1;
  location_count = 0;
  sc = view{};
  current = steps = preemptions = spurious = 0;
  sleeping = 0;
  unlocked = 0;
  executed = pending{};
  for (bool& d : dropped) d = false;
  weakenings.clear();
  running = false;
  end = ending::none;
  what.clear();
  trace.clear();
  depth = 0;
}

int engine::choose(int n, choosing kind) {
  if (n == 1) return 0;
  if (depth < tree.size()) return tree[depth++].taken;
  int taken = 0;
  if (opt.random != 0 && (kind == choosing::other || random() % 2 == 0))
    taken = static_cast<int>(random() % static_cast<unsigned>(n));
  tree.push_back({static_cast<std::uint8_t>(taken), static_cast<std::uint8_t>(n)});
  ++depth;
  return taken;
}

bool engine::advance() {
  while (!tree.empty() && tree.back().taken + 1 == tree.back().of) tree.pop_back();
  if (tree.empty()) return false;
  ++tree.back().taken;
  return true;
}

bool engine::enabled(const thread& t) const noexcept {
  if (t.finished) return false;
  if (t.asleep) return t.timed || spurious < opt.spurious;
  if (t.next.kind == step::lock) return !locations[t.next.where].locked;
  return t.spins_on < 0 || locations[t.spins_on].newest() > t.spun_at;
}

int engine::pick() {
  for (int i = 1; i < thread_count; ++i) {
    const pending& next = threads[i].next;
    const bool touched = next.where >= 0 && (unlocked >> next.where & 1) != 0;
    if (touched || dependent(next, executed)) sleeping &= ~(1u << i);
  }
  unlocked = 0;
  if (++steps > opt.steps) fail("livelock: the execution does not end");

  int who[kThreads], n = 0;
  const auto gather = [&] {
    if (in_thread() && enabled(me())) who[n++] = current;
    for (int i = 1; i < thread_count; ++i)
      if (i != current && enabled(threads[i])) who[n++] = i;
  };
  gather();
  if (n == 0) {  // spinners, if any, spin until they give up
    for (int i = 1; i < thread_count; ++i) threads[i].spins_on = -1;
    gather();
  }
  if (n == 0) {
    for (int i = 1; i < thread_count; ++i)
      if (!threads[i].finished && !threads[i].daemon)
        fail(std::string("deadlock: ") + threads[i].name + " never goes on");
    leave(ending::quiet);
  }
  const bool preempts = who[0] == current && in_thread() && !me().asleep;
  const bool sleep_sets = opt.preemptions < 0 && opt.random == 0;
  if (opt.preemptions >= 0 && preempts && preemptions == opt.preemptions) n = 1;
  if (sleep_sets) {
    int awake = 0;
    for (int i = 0; i < n; ++i)
      if ((sleeping >> who[i] & 1) == 0) who[awake++] = who[i];
    n = awake;
    if (n == 0) leave(ending::redundant);
  }
  const int k = choose(n, choosing::schedule);
  if (sleep_sets)
    for (int i = 0; i < k; ++i) sleeping |= 1u << who[i];
  if (preempts && who[k] != current) ++preemptions;
  executed = threads[who[k]].next;
  return who[k];
}

bool engine::stutters(step kind, int where) {
  thread& t = me();
  if (t.spins_on < 0) return false;
  const bool same = where == t.spins_on && locations[where].newest() == t.spun_at;
  if (same && t.hurry == 0) return false;
  if (same && (kind == step::load || kind == step::cas) && t.hurry-- > 0) return true;
  t.spins_on = -1;
  return false;
}

bool engine::point(step kind, int where, bool is_sc) {
  if (!in_thread()) return false;
  thread& t = me();
  if (stutters(kind, where)) return true;
  t.next = {kind, is_sc, static_cast<std::int16_t>(where)};
  hand_over(pick());
  t.spins_on = -1;
  t.last = where;
  return false;
}

void engine::spin() {
  if (!in_thread() || me().last < 0) return;
  thread& t = me();
  if (t.spins_on < 0) t.hurry = choose(2, choosing::other) == 0 ? 64 : 0;
  t.spins_on = t.last;
  t.spun_at = locations[t.last].newest();
}

void engine::hand_over(int to) {
  if (to == current) return;
  const int from = current;
  current = to;
  if (_setjmp(saved[from]) == 0) _longjmp(saved[to], 1);
}

void engine::finish_thread() {
  me().finished = true;
  current = pick();
  _longjmp(saved[current], 1);
}

void engine::leave(ending e) {
  end = e;
  _longjmp(saved[0], 1);
}

void engine::fail(const std::string& sentence) {
  what = sentence;
  if (!running) throw violation{};
  leave(ending::violation);
}

void engine::run_threads() {
  for (int i = 1; i < thread_count; ++i) {
    make_fiber(i);
    std::memcpy(&saved[i], &bases[i], sizeof(jmp_buf));
    threads[i].cur = threads[i].acq = threads[0].cur;
    tick(threads[i]);
  }
  tick(threads[0]);
  running = true;
  if (_setjmp(saved[0]) == 0) {
    current = pick();
    _longjmp(saved[current], 1);
  }
  running = false;
  current = 0;
  for (int i = 1; i < thread_count; ++i) threads[0].cur.join(threads[i].cur);
}

ending engine::run(const runner& r) {
  reset();
  void* program = nullptr;
  open_sleeper_table();
  try {
    program = r.make();
    run_threads();
    if (end == ending::quiet) r.finish(program);
  } catch (const violation&) {
    running = false;
    end = ending::violation;
  }
  if (program != nullptr) r.destroy(program);
  close_sleeper_table();
  return end;
}

outcome explore(const options& o, const runner& r) {
  const std::clock_t begin = std::clock();
  const auto passed = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  outcome out;
  the.opt = o;
  the.tree.clear();
  the.random.seed(o.seed);
  for (;;) {
    const ending e = the.run(r);
    e == ending::redundant ? ++out.redundant : ++out.executions;
    if (e == ending::violation) {
      out.caught = true;
      the.tracing = true;
      the.run(r);
      the.tracing = false;
      out.what = the.what;
      out.interleaving = the.trace;
      break;
    }
    const std::uint64_t all = out.executions + out.redundant;
    if (o.random != 0) {
      the.tree.clear();
      if (all == o.random) break;
    } else if (!the.advance()) {
      out.complete = true;
      break;
    }
    if (all >= o.executions || (all % 256 == 0 && passed() > o.seconds)) break;
  }
  out.seconds = passed();
  return out;
}

}  // namespace model
