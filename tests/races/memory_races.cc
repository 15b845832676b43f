// Plain memory: who forgot that others are there, too.

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "races/cases.h"

using races::both;
using races::in_turn;
using races::step;

namespace {

RACE(counter_and_yield) {
  SHARED(x);
  vole::mutex m;
  auto turn = [&] {
    for (int i = 0; i < 10; ++i) {
      if constexpr (kRacy) {
        ++x;
      } else {
        const std::lock_guard hold(m);
        ++x;
      }
      vole::yield();
    }
  };
  both(turn, turn);
}

RACE(counter_of_a_hundred) {
  SHARED(x);
  vole::mutex m;
  vole::wait_group over;
  for (int i = 0; i < 100; ++i)
    over.go([&] {
      std::unique_lock hold(m, std::defer_lock);
      if constexpr (!kRacy) hold.lock();
      ++x;
    });
  over.wait();
}

// One after the other on the same stack, which orders nothing.
RACE(one_after_the_other) {
  SHARED(x);
  vole::mutex m;
  step overs[2];
  for (step& over : overs) {
    vole::go([&] {
      std::unique_lock hold(m, std::defer_lock);
      if constexpr (!kRacy) hold.lock();
      ++x;
      if constexpr (!kRacy) hold.unlock();
      over.now();
    });
    over.after();
  }
}

RACE(counter_by_atomics) {
  std::atomic<int> good{0};
  SHARED(bad);
  auto add = [&] {
    if constexpr (kRacy) {
      ++bad;
    } else {
      good.fetch_add(1, std::memory_order_relaxed);
    }
  };
  in_turn(add, add);
}

RACE(map_of_two) {
  std::map<int, int> m;
  vole::mutex guard;
  auto insert = [&](int key) {
    std::unique_lock hold(guard, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    m[key] = key;
  };
  in_turn([&] { insert(1); }, [&] { insert(2); });
}

RACE(vector_of_two) {
  std::vector<int> v(2);
  in_turn([&] { v[0] = 1; }, [&] { v[kRacy ? 0 : 1] = 2; });
}

RACE(lazy_initialisation) {
  std::unique_ptr<int> p;
  vole::once made;
  auto get = [&] {
    if constexpr (kRacy) {
      if (p == nullptr) p = std::make_unique<int>(7);
    } else {
      made.call([&] { p = std::make_unique<int>(7); });
    }
    return *p;
  };
  in_turn([&] { get(); }, [&] { get(); });
}

RACE(captured_loop_variable) {
  vole::wait_group over;
  static int sink;
  sink = 0;
  vole::mutex m;
  for (int i = 0; i < 3; ++i) {
    auto body = [&m](const int& n) {
      const std::lock_guard hold(m);
      sink += n;
    };
    if constexpr (kRacy) {
      over.go([body, &i] { body(i); });
    } else {
      over.go([body, i] { body(i); });
    }
  }
  over.wait();
}

RACE(double_checked_flag) {
  alignas(64) bool plains[64] = {};
  bool& plain = plains[0];
  std::atomic<bool> flag{false};
  SHARED(value);
  vole::mutex m;
  auto get = [&] {
    const bool made = kRacy ? plain : flag.load(std::memory_order_acquire);
    if (!made) {
      const std::lock_guard hold(m);
      if (value == 0) value = 7;
      kRacy ? void(plain = true) : flag.store(true, std::memory_order_release);
    }
    return value;
  };
  in_turn([&] { get(); }, [&] { get(); });
}

RACE(publication_by_atomics) {
  SHARED(data);
  std::atomic<bool> ready{false};
  constexpr auto publish = kRacy ? std::memory_order_relaxed : std::memory_order_release;
  both(
      [&] {
        data = 1;
        ready.store(true, publish);
      },
      [&] {
        while (!ready.load(std::memory_order_acquire)) vole::yield();
        data = 2;
      });
}

RACE(parent_writes_after_go) {
  SHARED(x);
  vole::wait_group over;
  if constexpr (!kRacy) x = 1;
  over.go([&] { races::use(x); });
  if constexpr (kRacy) x = 1;
  over.wait();
}

RACE(read_before_join) {
  SHARED(x);
  auto h = vole::spawn([&] { x = 1; });
  if constexpr (kRacy) races::use(x);
  h.join();
  races::use(x);
}

RACE(address_of_a_local) {
  std::atomic<int*> lent{nullptr};
  step used;
  vole::chan<int*> handed;
  both(
      [&] {
        SHARED(mine);
        if constexpr (kRacy) {
          mine = 1;
          ++mine;
          lent.store(&mine, std::memory_order_relaxed);
        } else {
          mine = 1;
          handed.send(&mine);
        }
        used.after();
      },
      [&] {
        if constexpr (kRacy) {
          int* p = nullptr;
          while ((p = lent.load(std::memory_order_relaxed)) == nullptr) vole::yield();
          ++*p;
        } else {
          ++**handed.recv();
        }
        used.now();
      });
}

RACE(slices_that_overlap) {
  std::vector<int> v(100);
  auto fill = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) v[i] = static_cast<int>(i);
  };
  in_turn([&] { fill(0, kRacy ? 51 : 50); }, [&] { fill(50, 100); });
}

RACE(mutex_on_one_side) {
  SHARED(x);
  vole::mutex m;
  in_turn(
      [&] {
        const std::lock_guard hold(m);
        ++x;
      },
      [&] {
        std::unique_lock hold(m, std::defer_lock);
        if constexpr (!kRacy) hold.lock();
        ++x;
      });
}

RACE(two_mutexes) {
  SHARED(x);
  vole::mutex a, b;
  in_turn(
      [&] {
        const std::lock_guard hold(a);
        ++x;
      },
      [&] {
        const std::lock_guard hold(kRacy ? b : a);
        ++x;
      });
}

// Under contention: waiting, handing over, and a lock that is one processor's own.
RACE(mutex_under_contention) {
  SHARED(x);
  vole::mutex m;
  vole::wait_group over;
  for (int i = 0; i < 4; ++i)
    over.go([&] {
      for (int n = 0; n < 200; ++n) {
        const std::lock_guard hold(m);
        ++x;
        if (n % 50 == 0) vole::yield();
      }
      if constexpr (kRacy) ++x;
    });
  over.wait();
}

RACE(std_mutex) {
  SHARED(x);
  std::mutex m;
  auto add = [&] {
    std::unique_lock hold(m, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    ++x;
  };
  in_turn(add, add);
}

RACE(plain_thread) {
  SHARED(x);
  vole::mutex m;
  auto add = [&] {
    std::unique_lock hold(m, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    ++x;
  };
  std::thread t(add);
  vole::wait_group over;
  over.go(add);
  over.wait();
  t.join();
}

RACE(in_blocking) {
  SHARED(x);
  vole::mutex m;
  auto add = [&] {
    std::unique_lock hold(m, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    vole::blocking([&] { ++x; });
  };
  in_turn(add, add);
}

RACE(on_threads_of_their_own) {
  SHARED(x);
  vole::mutex m;
  auto add = [&] {
    vole::lock_os_thread();
    std::unique_lock hold(m, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    ++x;
    vole::yield();
    ++x;
  };
  both(add, add);
}

// Nothing that TSan sees: what it remembers of those that have ended goes to those that do much. So the
// clock is asked by a bare system call.
UNSEEN long ms_now() {
  timespec t;  // not cleared: that would be seen
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
UNSEEN void compute() {
  const long end = ms_now() + 25;
  while (ms_now() < end) {
  }
}

// It loses its processor in there, and goes on with another, perhaps on another thread.
RACE(while_evicted) {
  SHARED(x);
  vole::mutex m;
  auto hog = [&] {
    compute();
    std::unique_lock hold(m, std::defer_lock);
    if constexpr (!kRacy) hold.lock();
    ++x;
  };
  vole::wait_group over;
  for (int i = 0; i < 5; ++i) over.go(hog);
  over.wait();
}

RACE(exit_goroutine) {
  SHARED(x);
  vole::mutex m;
  struct at_the_end {
    int& x;
    vole::mutex& m;
    ~at_the_end() {
      std::unique_lock hold(m, std::defer_lock);
      if constexpr (!kRacy) hold.lock();
      ++x;
    }
  };
  auto body = [&] {
    const at_the_end here{x, m};
    vole::exit_goroutine();
  };
  in_turn(body, body);
}

RACE(local_value_lent) {
  static vole::local<int> mine;
  step wrote, used;
  vole::chan<int*> lent;
  vole::chan<int> copied;
  both(
      [&] {
        *mine = 1;
        if constexpr (kRacy) {
          lent.send(&*mine);
        } else {
          copied.send(*mine);
        }
        ++*mine;
        wrote.now();
        used.after();
      },
      [&] {
        if constexpr (kRacy) {
          int* const p = *lent.recv();
          wrote.after();
          ++*p;
        } else {
          races::use(*copied.recv());
        }
        ++*mine;
        used.now();
      });
}

RACE(pool_used_after_put) {
  vole::pool<std::unique_ptr<int>> pool([] { return std::make_unique<int>(0); });
  step put;
  both(
      [&] {
        std::unique_ptr<int> p = pool.get();
        int* const kept = p.get();
        if constexpr (!kRacy) ++*kept;
        pool.put(std::move(p));
        if constexpr (kRacy) ++*kept;
        put.now();
      },
      [&] {
        put.after();
        for (int i = 0; i < 3; ++i) ++*pool.get();
      });
}

// Goroutines on one thread use its variables one after the other.
RACE(variable_of_the_thread) {
  static thread_local int own;
  SHARED(x);
  auto turn = [&] {
    for (int i = 0; i < 10; ++i) {
      errno = i;
      ++(kRacy ? x : own);
      vole::yield();
    }
  };
  vole::wait_group over;
  for (int i = 0; i < 8; ++i) over.go(turn);
  over.wait();
}

RACE_AROUND_RUN(after_the_end_of_run) {
  static int x;
  vole::run([] {
    step over;
    vole::wait_group done;
    auto write = [&] {
      x = 1;
      over.now();
    };
    if constexpr (kRacy) {
      vole::go(write);
    } else {
      done.go(write);
    }
    over.after();
    if constexpr (!kRacy) done.wait();
  });
  races::use(x);
  ++x;
}

}  // namespace
