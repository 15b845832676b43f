// A goroutine that is left in a loop when run() returns burns a core for ever, though it calls vole.
//
//     goroutine                               run() ends
//     for (;;) checkpoint();                  takes every P; a look that succeeds clears `attention`
//       attention is 0: goes on               waits for those in user code
//       and on                                the grace is over: it is a zombie
//       and on                                run() returns
//
// The same with any call that does its work without entering the runtime: an uncontended mutex or
// semaphore, a wait_group whose count is above zero, ctx.err(), a try_ that fails, now().

#include <vole/vole.h>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <vole/detail/checkpoint.h>

#include "../api/fixture.h"

namespace {

// What the calls use. Goroutines that are left behind use it for ever: it is never destroyed.
struct objects {
  objects() {
    held.lock();
    writing.lock();
    reading.lock_shared();
    counting.add();
    done.call([] {});
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    over.cancel();
    EXPECT_TRUE(watch.stop());
  }
  vole::mutex free, held, fresh;
  vole::shared_mutex shared, reading, writing;
  vole::semaphore permits{2}, none{0};
  vole::wait_group counting, zero;
  vole::once done;
  vole::condition_variable nobody;
  vole::pool<int> numbers{[] { return 0; }};
  vole::local<int> number;
  vole::chan<int> channel{4}, nil{nullptr};
  vole::cancelable scope = vole::with_cancel(vole::context::background());
  vole::timer clock{std::chrono::hours(1)};
  vole::cancelable over = vole::with_cancel(vole::context::background());
  vole::func_watch watch = vole::after_func(scope.ctx, [] {});
  vole::net::conn closed;
  vole::net::listener server = vole::net::listen("tcp", "127.0.0.1:0");
  vole::net::conn open = vole::net::dial("tcp", server.local_address().to_string());
  vole::io::writer out{open};
  int pair[2] = {};
  std::array<std::byte, 8> bytes{};
};

// LeakSanitizer looks for what nobody refers to: goroutines that are gone do not count.
template <class T>
T& for_ever(T* made) {
  static auto& all = *new std::vector<T*>;  // still there when it looks
  return *all.emplace_back(made);
}

struct looped {
  const char* name;
  void (*call)(objects&);
  bool owns = false;  // memory, which is lost if it sleeps there: nothing for LeakSanitizer
};

inline constexpr vole::context_key<int> number_key{"number"};

// A dial that fails at once.
void fail_to_dial(const char* network, const char* at,
                  const vole::context& ctx = vole::context::background()) {
  std::error_code e;
  EXPECT_FALSE(vole::net::dial(network, at, ctx, e));
}

void use(vole::mutex& m) {
  m.lock();
  m.unlock();
}

const looped kCalls[] = {
    {"checkpoint", [](objects&) { vole::checkpoint(); }},
    {"function_entry", [](objects&) { vole::detail::at_function_entry(); }},
    {"yield", [](objects&) { vole::yield(); }},
    {"blocking", [](objects&) { vole::blocking([] {}); }},
    {"mutex", [](objects& o) { use(o.free); }},
    {"mutex_of_its_own",
     [](objects& o) {
       for (int i = 0; i < 20'000; ++i) use(o.fresh);
     }},
    {"mutex_try",
     [](objects& o) {
       if (o.free.try_lock()) o.free.unlock();
     }},
    {"mutex_try_fails", [](objects& o) { EXPECT_FALSE(o.held.try_lock()); }},
    {"shared_mutex",
     [](objects& o) {
       o.shared.lock();
       o.shared.unlock();
     }},
    {"shared_mutex_reads",
     [](objects& o) {
       o.shared.lock_shared();
       o.shared.unlock_shared();
     }},
    {"shared_mutex_try_fails", [](objects& o) { EXPECT_FALSE(o.reading.try_lock()); }},
    {"shared_mutex_try_shared_fails",
     [](objects& o) { EXPECT_FALSE(o.writing.try_lock_shared()); }},
    {"semaphore",
     [](objects& o) {
       o.permits.acquire();
       o.permits.release();
     }},
    {"semaphore_try_fails", [](objects& o) { EXPECT_FALSE(o.none.try_acquire()); }},
    {"wait_group",
     [](objects& o) {
       o.counting.add();
       o.counting.done();
     }},
    {"wait_group_to_zero",
     [](objects& o) {
       o.zero.add();
       o.zero.done();
     }},
    {"wait_group_wait", [](objects& o) { o.zero.wait(); }},
    {"once", [](objects& o) { o.done.call([] {}); }},
    {"condition_variable", [](objects& o) { o.nobody.notify_all(); }},
    {"pool", [](objects& o) { o.numbers.put(o.numbers.get()); }, true},
    {"local", [](objects& o) { ++*o.number; }},
    {"chan_size", [](objects& o) { EXPECT_EQ(o.channel.size(), 0u); }},
    {"chan_try", [](objects& o) { EXPECT_FALSE(o.channel.try_recv()); }},
    {"chan_try_nil", [](objects& o) { EXPECT_FALSE(o.nil.try_recv()); }},
    {"select_default",
     [](objects& o) { vole::select(vole::on_recv(o.channel, [](auto) {}), vole::on_default()); }},
    {"context_err", [](objects& o) { EXPECT_FALSE(o.scope.ctx.err()); }},
    {"background_err", [](objects&) { EXPECT_FALSE(vole::context::background().err()); }},
    {"context_done", [](objects& o) { EXPECT_FALSE(o.scope.ctx.done().try_recv()); }},
    {"context_done_alone", [](objects& o) { EXPECT_TRUE(o.scope.ctx.done() != nullptr); }},
    {"context_cause", [](objects& o) { EXPECT_EQ(o.scope.ctx.cause(), nullptr); }},
    {"with_cancel", [](objects& o) { vole::with_cancel(o.scope.ctx).cancel(); }, true},
    {"now", [](objects&) { EXPECT_GT(vole::now(), vole::time_point()); }},
    {"sleep_for_nothing", [](objects&) { vole::sleep_for(vole::duration::zero()); }},
    {"sleep_until_past", [](objects&) { vole::sleep_until(vole::time_point()); }},
    {"timer", [](objects& o) { o.clock.reset(std::chrono::hours(1)); }},
    {"goroutine_id", [](objects&) { EXPECT_NE(vole::goroutine_id(), 0u); }},
    {"num_goroutines", [](objects&) { EXPECT_NE(vole::num_goroutines(), 0u); }},
    {"max_procs", [](objects&) { EXPECT_GT(vole::max_procs(), 0); }},
    {"set_max_procs", [](objects&) { vole::set_max_procs(2); }},
    {"stats", [](objects&) { EXPECT_GT(vole::stats().procs, 0); }},
    {"lock_os_thread",
     [](objects&) {
       vole::lock_os_thread();
       vole::unlock_os_thread();
     }},
    {"read_of_a_closed_conn",
     [](objects& o) {
       std::error_code e;
       EXPECT_EQ(o.closed.read(o.bytes, e), 0u);
     }},
    {"conn_bool", [](objects& o) { EXPECT_TRUE(o.open); }},
    {"conn_bool_empty", [](objects& o) { EXPECT_FALSE(o.closed); }},
    {"conn_set_deadline", [](objects& o) { o.open.set_deadline(vole::time_point::max()); }},
    {"conn_set_deadline_empty", [](objects& o) { o.closed.set_deadline(vole::time_point()); }},
    {"conn_native_handle", [](objects& o) { EXPECT_GE(o.open.native_handle(), 0); }},
    {"conn_local_address", [](objects& o) { EXPECT_TRUE(o.open.local_address()); }, true},
    {"conn_remote_address", [](objects& o) { EXPECT_TRUE(o.open.remote_address()); }, true},
    {"conn_peer_credentials",
     [](objects& o) {
       std::error_code e;
       (void)o.open.peer_credentials(e);
       EXPECT_TRUE(e);
     }},
    {"conn_close_write", [](objects& o) { o.open.close_write(); }},
    {"conn_close_again", [](objects& o) { o.closed.close(); }},
    {"dial_refused", [](objects&) { fail_to_dial("unix", "@vole nobody listens here"); }, true},
    {"dial_bad_address", [](objects&) { fail_to_dial("tcp", "no port"); }, true},
    {"dial_unknown_network", [](objects&) { fail_to_dial("carrier pigeon", "x:1"); }, true},
    {"dial_cancelled", [](objects& o) { fail_to_dial("tcp", "127.0.0.1:1", o.over.ctx); }, true},
    {"resolve_literal",
     [](objects&) { EXPECT_EQ(vole::net::resolve("tcp", "127.0.0.1:80").size(), 1u); }, true},
    {"listen_in_use",
     [](objects& o) {
       std::error_code e;
       EXPECT_FALSE(vole::net::listen("tcp", o.server.local_address().to_string(), e));
     },
     true},
    {"adopt_bad_fd",
     [](objects&) {
       std::error_code e;
       EXPECT_FALSE(vole::net::conn(-1, e));
       EXPECT_FALSE(vole::net::listener(-1, e));
     }},
    {"adopt_bad_fd_alone",
     [](objects&) {
       std::error_code e;
       const vole::net::conn none(-1, e);
     }},
    {"copy_from_bad_fd",
     [](objects& o) {
       std::error_code e;
       EXPECT_EQ(vole::io::copy(o.open, -1, e), 0u);
     }},
    {"flush_of_nothing", [](objects& o) { o.out.flush(); }},
    {"address_parse",
     [](objects&) { EXPECT_TRUE(vole::net::address::parse("127.0.0.1:80")); }, true},
    {"cancel_again", [](objects& o) { o.over.cancel(); }},
    {"watch_stop_again", [](objects& o) { EXPECT_FALSE(o.watch.stop()); }},
    {"with_value",
     [](objects& o) { EXPECT_TRUE(vole::with_value(o.scope.ctx, number_key, 1).value(number_key)); },
     true},
    {"without_cancel",
     [](objects& o) { EXPECT_NE(vole::without_cancel(o.scope.ctx), o.scope.ctx); }, true},
    {"context_deadline", [](objects& o) { EXPECT_FALSE(o.scope.ctx.deadline()); }},
    {"ignore_signal", [](objects&) { vole::ignore_signal(SIGUSR2); }},
    {"timer_channel", [](objects& o) { EXPECT_TRUE(o.clock.channel() != nullptr); }},
    {"semaphore_try_nothing", [](objects& o) { EXPECT_TRUE(o.permits.try_acquire(0)); }},
    {"wait_writable", [](objects& o) { EXPECT_TRUE(vole::wait_writable(o.pair[0])); }},
};

// The kernel's letter for what it does; 0: there is no such thread any more.
char state_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  return line[line.rfind(')') + 2];
}

// One that loops is never seen asleep.
bool comes_to_rest(pid_t thread) {
  return vole_test::eventually([thread] {
    const char s = state_of(thread);
    return s == 0 || s == 'S';
  });
}

class LeftInALoop : public testing::TestWithParam<looped> {};

TEST_P(LeftInALoop, ComesToRestWhenRunReturns) {
  const looped c = GetParam();
  if (c.owns && vole_test::kSanitized) GTEST_SKIP() << "its memory is lost, by contract";
  const int procs = vole::set_max_procs(2);
  objects& o = for_ever(new objects);
  std::atomic<pid_t>& thread = for_ever(new std::atomic<pid_t>(0));
  vole::run([&] {
    vole::go([&o, &thread, c] {
      for (;;) {
        c.call(o);
        thread.store(gettid(), std::memory_order_relaxed);
      }
    });
    while (thread == 0) vole::yield();
  });
  EXPECT_TRUE(comes_to_rest(thread)) << "state " << state_of(thread);
  vole::set_max_procs(procs);
}

std::string name_of(const testing::TestParamInfo<looped>& c) { return c.param.name; }
INSTANTIATE_TEST_SUITE_P(Calls, LeftInALoop, testing::ValuesIn(kCalls), name_of);

// In code of its own until run() has returned, and only then in the loop. All of them at once, and
// some before a new runtime begins, some beside it.
TEST(LeftInALoop, AZombieComesToRestInItsNextCall) {
  struct zombie {
    looped c;
    std::atomic<pid_t> thread{0};
    std::atomic<bool> over{false};
  };
  constexpr std::size_t kAll = std::size(kCalls);
  objects& o = for_ever(new objects);
  auto& all = for_ever(new std::array<zombie, kAll>);
  const int procs = vole::set_max_procs(2);
  vole::run([&] {
    for (std::size_t i = 0; i < kAll; ++i) {
      all[i].c = kCalls[i];
      vole::go([&o, &z = all[i]] {
        z.thread = gettid();
        while (!z.over) {
        }
        if (z.c.owns && vole_test::kSanitized) vole::checkpoint();
        for (;;) z.c.call(o);
      });
    }
    for (zombie& z : all)
      while (z.thread == 0) vole::yield();
  });
  for (std::size_t i = 0; i < kAll; i += 2) all[i].over = true;
  for (std::size_t i = 0; i < kAll; i += 2)
    EXPECT_TRUE(comes_to_rest(all[i].thread)) << all[i].c.name;
  vole::run([&] {
    for (std::size_t i = 1; i < kAll; i += 2) all[i].over = true;
    for (std::size_t i = 1; i < kAll; i += 2)
      EXPECT_TRUE(comes_to_rest(all[i].thread)) << all[i].c.name;
  });
  vole::set_max_procs(procs);
}

}  // namespace
