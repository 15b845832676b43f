// What a program calls besides atomics: threads, mutexes, vars, futexes, membarrier,
// and the mutations.
//
// Note   a futex wait compares with the newest store, as the kernel does under its
//        own lock, and a thread that comes back from it reads nothing older. Nothing
//        else passes between waker and sleeper: data needs release and acquire.
#include <algorithm>
#include <optional>
#include <string>

#include "base/fatal.h"
#include "base/lock_order.h"
#include "base/sleeper_table.h"
#include "base/system.h"
#include "engine.h"

namespace model {

namespace {

int add_thread(const char* name, std::function<void()> body, bool daemon) {
  if (the.thread_count == kThreads) the.fail("too many threads for the model");
  const int id = the.thread_count++;
  thread& t = the.threads[id];
  t.name = name;
  t.body = std::move(body);
  t.daemon = daemon;
  return id;
}

int find_location(const void* address) {
  for (int i = the.location_count - 1; i >= 0; --i)
    if (the.locations[i].address == address) return i;
  the.fail("futex: not a word of the model");
}

// Sleeps while the word is as expected. False: nobody woke it.
bool sleep_on(const void* word, std::uint32_t expected, bool timed) {
  const int where = find_location(word);
  the.point(step::futex_wait, where, false);
  thread& t = the.me();
  location& l = the.at(where);
  const auto catch_up = [&] {
    t.cur.at[where] = t.acq.at[where] = static_cast<std::uint16_t>(l.newest());
  };
  catch_up();
  if (static_cast<std::uint32_t>(l.stores.back().value) != expected) {
    the.note("no wait", where, l.stores.back().value);
    return true;
  }
  the.note("sleep", where, expected);
  t.asleep = true;
  t.timed = timed;
  t.woken = false;
  t.next = {step::asleep, false, static_cast<std::int16_t>(where)};
  the.hand_over(the.pick());
  if (!t.woken && !timed) ++the.spurious;
  the.note(t.woken ? "woken" : timed ? "timeout" : "spurious", where, 0);
  t.asleep = false;
  catch_up();
  return t.woken;
}

}  // namespace

int spawn(const char* name, std::function<void()> body) {
  return add_thread(name, std::move(body), false);
}
int spawn_daemon(const char* name, std::function<void()> body) {
  return add_thread(name, std::move(body), true);
}
int self() noexcept { return the.current; }
int choose(int n) { return the.choose(n, choosing::other); }
std::uint32_t stamp() noexcept { return the.me().cur.clock[the.current]; }

void require(bool condition, const char* sentence) {
  if (!condition) the.fail(sentence);
}

int atomic_in(const void* object, std::size_t size, int n) {
  const char* const begin = static_cast<const char*>(object);
  for (int i = 0; i < the.location_count; ++i) {
    const char* const a = static_cast<const char*>(the.locations[i].address);
    if (the.locations[i].alive && a >= begin && a < begin + size && n-- == 0) return i;
  }
  the.fail("no such atomic in this object");
}

void name(int location, const char* name) { the.locations[location].name = name; }
std::int32_t lowest(int location) {
  auto least = static_cast<std::int32_t>(the.locations[location].stores[0].value);
  for (const stored& s : the.locations[location].stores)
    least = std::min(least, static_cast<std::int32_t>(s.value));
  return least;
}

void each_store(int location,
                const std::function<void(std::uint64_t was, std::uint64_t is)>& look) {
  const std::vector<stored>& all = the.locations[location].stores;
  for (std::size_t i = 1; i < all.size(); ++i) look(all[i - 1].value, all[i].value);
}

void preset(int location, std::uint64_t value) {
  the.locations[location].stores[0].value = value;
}

void weaken(int location, access a, std::memory_order order, int thread) {
  the.weakenings.push_back({location, thread, a, order});
}
void tear(int location) { the.locations[location].torn = true; }
void drop(call c) { the.dropped[static_cast<int>(c)] = true; }

// Each thread passes a full fence, one after the other, wherever it stands.
void membarrier() noexcept {
  if (the.dropped[static_cast<int>(call::membarrier)]) return;
  for (int i = 1; i < the.thread_count; ++i) {
    the.point(step::barrier, -1, true);
    the.fence(the.me());
    the.fence(the.threads[i]);
  }
  the.fence(the.me());
  the.note("membarrier", -1, 0);
}

race_check::race_check() noexcept { wrote_[the.current] = stamp(); }

void race_check::on_read() {
  const view& now = the.me().cur;
  for (int i = 0; i < kThreads; ++i)
    if (wrote_[i] > now.clock[i]) the.fail("data race: a read and a write");
  read_[the.current] = stamp();
}

void race_check::on_write() { was_written(stamp()); }

void race_check::was_written(std::uint32_t when) {
  const view& now = the.me().cur;
  for (int i = 0; i < kThreads; ++i) {
    if (wrote_[i] > now.clock[i]) the.fail("data race: two writes");
    if (read_[i] > now.clock[i]) the.fail("data race: a write and a read");
    writer_view_[i] = now.clock[i];
  }
  wrote_[the.current] = when;
}

void race_check::was_read(std::uint32_t when) {
  const view& now = the.me().cur;
  for (int i = 0; i < kThreads; ++i)
    if (wrote_[i] > now.clock[i] && writer_view_[the.current] < when)
      the.fail("data race: a write and an earlier read");
  if (read_[the.current] < when) read_[the.current] = when;
}

mutex::mutex() noexcept : location_(detail::create_location(this, 0)) {
  name(location_, "mutex");
  the.locations[location_].released = view{};
}

void mutex::lock() noexcept {
  the.point(step::lock, location_, false);
  location& l = the.at(location_);
  l.locked = true;
  the.me().cur.join(l.released);
  the.me().acq.join(l.released);
  the.note("lock", location_, 0);
}

// No scheduling point: to let go a little later shows nothing new.
void mutex::unlock() noexcept {
  location& l = the.at(location_);
  l.locked = false;
  l.released = the.me().cur;
  the.tick(the.me());
  the.unlocked |= std::uint64_t{1} << location_;
  the.note("unlock", location_, 0);
}

}  // namespace model

namespace {

std::optional<vole::base::atomic<std::uint32_t>> asleep, asleep_on_locks;

}  // namespace

namespace model {

void open_sleeper_table() {
  asleep.emplace(0u);
  name(atomic_in(asleep), "all sleepers");
  asleep_on_locks.emplace(0u);
  name(atomic_in(asleep_on_locks), "sleepers");
}
void close_sleeper_table() {
  asleep_on_locks.reset();
  asleep.reset();
}

}  // namespace model

namespace vole::base {

atomic<std::uint32_t>& sleeper_table::total() noexcept { return *asleep; }
atomic<std::uint32_t>& sleeper_table::sleepers(const void*) noexcept { return *asleep_on_locks; }

std::uint32_t clock_us() noexcept { return 0; }  // time stands still

bool membarrier() noexcept {
  model::membarrier();
  return true;
}

void futex_wait(atomic<std::uint32_t>* word, std::uint32_t expected) noexcept {
  model::sleep_on(word, expected, false);
}

bool futex_wait_for(atomic<std::uint32_t>* word, std::uint32_t expected, std::int64_t) noexcept {
  return model::sleep_on(word, expected, true);
}

void futex_wake(atomic<std::uint32_t>* word, int n) noexcept {
  using namespace model;
  if (the.dropped[static_cast<int>(call::futex_wake)]) return;
  const int where = find_location(word);
  the.point(step::futex_wake, where, false);
  the.note("wake", where, static_cast<std::uint64_t>(n));
  for (; n > 0; --n) {
    int who[model::kThreads], sleepers = 0;
    for (int i = 1; i < the.thread_count; ++i)
      if (the.threads[i].asleep && !the.threads[i].woken && the.threads[i].next.where == where)
        who[sleepers++] = i;
    if (sleepers == 0) return;
    model::thread& t = the.threads[who[the.choose(sleepers, choosing::other)]];
    t.woken = true;
    t.asleep = false;
  }
}

void fatal(std::string_view what) noexcept { model::the.fail("fatal: " + std::string(what)); }
void broken(std::string_view what) noexcept { fatal(what); }

#ifdef VOLE_CHECKED
namespace lock_order {
void taking(lock_rank) noexcept {}
void took(lock_rank) noexcept {}
void releasing(lock_rank) noexcept {}
bool holds_any() noexcept { return false; }
}  // namespace lock_order
#endif

}  // namespace vole::base
