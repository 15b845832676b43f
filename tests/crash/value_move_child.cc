// What a value's move may not do while the value travels through a channel: wait for anybody, or
// wake anybody. It runs inside the scheduler, with the channel locked.

#include <chrono>
#include <mutex>
#include <thread>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

// Calls `act` when it is moved for the first time: from the sender into the channel.
struct acting {
  explicit acting(void (*what)()) : act(what) {}
  acting(acting&& other) noexcept {
    if (other.act != nullptr) std::exchange(other.act, nullptr)();
  }
  void (*act)();
};

// Calls `act` when it is destroyed in the channel's buffer, after it was moved out of there.
struct leaving {
  explicit leaving(void (*what)()) : act(what) {}
  leaving(leaving&& other) noexcept
      : act(std::exchange(other.act, nullptr)), moves(other.moves + 1) {
    if (moves == 2) other.left = act;
  }
  ~leaving() {
    if (left != nullptr) left();
  }
  void (*act)();
  void (*left)() = nullptr;
  int moves = 0;
};

// ── the acts ──

using namespace std::chrono_literals;
vole::mutex held;
vole::shared_mutex shared_held;
vole::semaphore none(0);
vole::wait_group group;
vole::once once;
vole::condition_variable condition;
const vole::chan<int> other(1), empty;

void lock() { held.lock(); }
void lock_shared() { shared_held.lock_shared(); }
void unlock() { held.unlock(); }  // somebody waits
void acquire() { none.acquire(); }
void release() { none.release(); }
void done() { group.done(); }
void notify() { condition.notify_all(); }
void call_once() {
  once.call([] { once.call([] {}); });
}
void send() { other.send(1); }
void try_send() { (void)other.try_send(1); }
void recv() { empty.recv(); }
void recv_nil() { vole::chan<int>(nullptr).recv(); }
void close() { other.close(); }
void select() { vole::select(vole::on_recv(empty), vole::on_default()); }
void select_nothing() { vole::select(); }
void go() {
  vole::go([] {});
}
void yield() { vole::yield(); }
void sleep() { vole::sleep_for(1ms); }
void blocking() {
  vole::blocking([] {});
}
void exit_goroutine() { vole::exit_goroutine(); }
void set_max_procs() { vole::set_max_procs(3); }
void dump() { vole::dump_goroutines(stderr); }
void stats() { (void)vole::stats(); }
void run() {
  vole::run([] {});
}
void shutdown() { vole::shutdown(); }
void cancel() {
  auto [ctx, cancel] = vole::with_cancel(vole::context::background());
  cancel();
}

struct named_act {
  const char* name;
  void (*act)();
};
constexpr named_act kActs[] = {
    {"lock", lock},
    {"lock_shared", lock_shared},
    {"unlock", unlock},
    {"acquire", acquire},
    {"release", release},
    {"done", done},
    {"notify", notify},
    {"call_once", call_once},
    {"send", send},
    {"try_send", try_send},
    {"recv", recv},
    {"recv_nil", recv_nil},
    {"close", close},
    {"select", select},
    {"select_nothing", select_nothing},
    {"go", go},
    {"yield", yield},
    {"sleep", sleep},
    {"blocking", blocking},
    {"exit_goroutine", exit_goroutine},
    {"set_max_procs", set_max_procs},
    {"dump", dump},
    {"stats", stats},
    {"run", run},
    {"shutdown", shutdown},
    {"cancel", cancel},
};

// ── the ways to travel ──

void prepare() {
  held.lock();
  shared_held.lock();
  group.add(1);
}
// On a goroutine: somebody waits for each of those that a move will wake.
void prepare_waiters() {
  vole::go({.name = "at the mutex"}, [] { held.lock(); });
  vole::go({.name = "at the semaphore"}, [] { none.acquire(); });
  vole::go({.name = "at the group"}, [] { group.wait(); });
  vole::go({.name = "at the condition"}, [] {
    vole::mutex m;
    std::unique_lock lock(m);
    condition.wait(lock);
  });
  until_dump_has("(at the mutex) [waiting, mutex");
  until_dump_has("(at the semaphore) [waiting, semaphore");
  until_dump_has("(at the group) [waiting, wait group");
  until_dump_has("(at the condition) [waiting, condition variable");
}

void send_it(void (*act)()) { vole::chan<acting>(1).send(acting(act)); }
void select_it(void (*act)()) { vole::select(vole::on_send(vole::chan<acting>(1), acting(act))); }
void receive_it(void (*act)()) {
  const vole::chan<leaving> c(1);
  c.send(leaving(act));
  c.recv();
}

template <void (*Travel)(void (*)())>
int on_goroutine(void (*act)()) {
  prepare();
  return vole::run([act] {
    prepare_waiters();
    Travel(act);
    return kAlive;
  });
}

// Beside a runtime, on a plain thread.
template <void (*Travel)(void (*)())>
int on_thread(void (*act)()) {
  prepare();
  vole::wait_group prepared;
  prepared.add(1);
  vole::go([&] {
    prepare_waiters();
    prepared.done();
  });
  prepared.wait();
  Travel(act);
  return kAlive;
}

struct way {
  std::string_view name;
  int (*travel)(void (*)());
};
constexpr way kWays[] = {
    {"goroutine.send", on_goroutine<send_it>},     {"goroutine.select", on_goroutine<select_it>},
    {"goroutine.leave", on_goroutine<receive_it>}, {"thread.send", on_thread<send_it>},
    {"thread.select", on_thread<select_it>},       {"thread.leave", on_thread<receive_it>},
};

}  // namespace

// The argument is a way and an act: "goroutine.send.lock".
int main(int argc, char** argv) {
  const std::string_view wanted = argc == 2 ? argv[1] : "";
  for (const way& w : kWays)
    for (const named_act& a : kActs)
      if (wanted == std::string(w.name) + "." + a.name) return w.travel(a.act);
  return kUnknown;
}
