// Channels, and what else is waited for: which edge there is, and which there is not.

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "races/cases.h"

using races::both;
using races::in_turn;
using races::step;

namespace {

RACE(write_after_send) {
  step wrote;
  vole::chan<int*> c;
  SHARED(x);
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        c.send(&x);
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        int* const p = *c.recv();
        if constexpr (kRacy) wrote.after();
        ++*p;
      });
}

RACE(write_after_buffered_send) {
  step wrote;
  vole::chan<int*> c(4);
  SHARED(x);
  step sent;
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        c.send(&x);
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
        sent.now();
      },
      [&] {
        sent.after();
        int* const p = *c.recv();
        if constexpr (kRacy) wrote.after();
        ++*p;
      });
}

RACE(channel_of_pointers) {
  struct alignas(64) message {
    int value = 0;
  };
  vole::chan<message*> there;
  vole::chan<> back;
  both(
      [&] {
        const auto own = std::make_unique<message>();
        message& one = *own;
        for (int i = 0; i < 3; ++i) {
          one.value = i;
          there.send(own.get());
          if constexpr (!kRacy) back.recv();
        }
        if constexpr (kRacy) {
          ++one.value;
          back.recv();
        }
      },
      [&] {
        for (int i = 0; i < 3; ++i) {
          ++(*there.recv())->value;
          if constexpr (!kRacy) back.send();
        }
        if constexpr (kRacy) back.send();
      });
}

// receive -> the return of send: of an unbuffered channel only. The receiver is there first.
RACE(buffered_instead_of_unbuffered) {
  vole::chan<> c(kRacy ? 1 : 0);
  SHARED(x);
  step about_to;
  both(
      [&] {
        x = 1;
        about_to.now();
        c.recv();
      },
      [&] {
        about_to.after();
        for (int i = 0; i < 10; ++i) vole::yield();  // mostly it waits by now
        c.send();
        ++x;
      });
}

// The same, and the sender is there first.
RACE(buffered_instead_of_unbuffered_later) {
  vole::chan<> c(kRacy ? 1 : 0);
  SHARED(x);
  both(
      [&] {
        for (int i = 0; i < 10; ++i) vole::yield();
        x = 1;
        c.recv();
      },
      [&] {
        c.send();
        ++x;
      });
}

// A buffered channel as a semaphore: the k-th receive comes before the (k + capacity)-th send.
RACE(channel_as_semaphore) {
  vole::chan<> tokens(kRacy ? 2 : 1);
  SHARED(x);
  vole::wait_group over;
  for (int i = 0; i < 6; ++i)
    over.go([&] {
      tokens.send();
      ++x;
      vole::yield();
      tokens.recv();
    });
  over.wait();
}

// Values that waited in the ring, those that were handed over, senders that waited for room.
RACE(pipeline) {
  constexpr int kMany = 200;
  vole::chan<std::unique_ptr<int>> c(3);
  SHARED(after);
  both(
      [&] {
        for (int i = 0; i < kMany; ++i) c.send(std::make_unique<int>(i));
        after = 1;
        if constexpr (!kRacy) c.close();
      },
      [&] {
        for (int i = 0; i < kMany; ++i) ++**c.recv();
        if constexpr (!kRacy) c.recv();
        ++after;
      });
}

RACE(many_senders_many_receivers) {
  vole::chan<int*> c(2);
  int values[64] = {};
  SHARED(counted);
  vole::wait_group over;
  for (int s = 0; s < 4; ++s)
    over.go([&, s] {
      for (int i = s; i < 64; i += 4) {
        values[i] = i;
        c.send(&values[i]);
      }
    });
  vole::mutex m;
  for (int r = 0; r < 4; ++r)
    over.go([&] {
      for (int i = 0; i < 16; ++i) {
        ++**c.recv();
        std::unique_lock hold(m, std::defer_lock);
        if constexpr (!kRacy) hold.lock();
        ++counted;
      }
    });
  over.wait();
}

RACE(close_against_send) {
  vole::chan<int> c(1);
  step sent;
  vole::wait_group done;
  both(
      [&] {
        done.add();
        c.send(1);
        done.done();
        sent.now();
      },
      [&] {
        sent.after();
        if constexpr (!kRacy) done.wait();
        c.close();
      });
}

RACE(write_before_close) {
  step wrote;
  vole::chan<> c;
  SHARED(x);
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        c.close();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        c.recv();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(select) {
  step wrote;
  vole::chan<int*> a, b;
  SHARED(x);
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        vole::select(vole::on_send(a, &x), vole::on_recv(b));
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        vole::select(vole::on_recv(a,
                                   [&](int* p) {
                                     if constexpr (kRacy) wrote.after();
                                     ++*p;
                                   }),
                     vole::on_recv(b));
      });
}

RACE(select_on_a_ring) {
  vole::chan<int*> a(2), b(2);
  SHARED(x);
  SHARED(y);
  both(
      [&] {
        for (int i = 0; i < 2; ++i) {
          if constexpr (!kRacy) ++(i == 0 ? x : y);
          vole::select(vole::on_send(i == 0 ? a : b, i == 0 ? &x : &y),
                       vole::on_recv(vole::chan<>(nullptr)));
          if constexpr (kRacy) ++(i == 0 ? x : y);
        }
      },
      [&] {
        for (int i = 0; i < 2; ++i)
          vole::select(vole::on_recv(a, [](int* p) { ++*p; }),
                       vole::on_recv(b, [](int* p) { ++*p; }));
      });
}

RACE(try_send) {
  step wrote;
  vole::chan<int*> c(1);
  SHARED(x);
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        (void)c.try_send(&x);
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        int* const p = *c.recv();
        if constexpr (kRacy) wrote.after();
        ++*p;
      });
}

RACE(from_a_plain_thread) {
  step wrote;
  vole::chan<int*> c;
  SHARED(x);
  std::thread t([&] {
    if constexpr (!kRacy) x = 1;
    c.send(&x);
    if constexpr (kRacy) {
      x = 1;
      wrote.now();
    }
  });
  int* const p = *c.recv();
  if constexpr (kRacy) wrote.after();
  ++*p;
  t.join();
}

RACE(to_a_plain_thread) {
  step wrote;
  vole::chan<int*> c;
  SHARED(x);
  std::thread t([&] {
    int* const p = *c.recv();
    if constexpr (kRacy) wrote.after();
    ++*p;
  });
  if constexpr (!kRacy) x = 1;
  c.send(&x);
  if constexpr (kRacy) {
    x = 1;
    wrote.now();
  }
  vole::blocking([&] { t.join(); });
}

RACE(wait_before_add) {
  vole::wait_group group;
  SHARED(x);
  step waited, over;
  if constexpr (!kRacy) group.add();
  vole::go([&] {
    if constexpr (kRacy) {
      waited.after();
      group.add();
    }
    ++x;
    group.done();
    over.now();
  });
  group.wait();
  ++x;
  waited.now();
  over.after();
  group.wait();
}

// Who waits is woken by the second alone.
RACE(read_before_wait) {
  vole::wait_group group;
  SHARED(x);
  step wrote;
  group.go([&] {
    x = 1;
    wrote.now();
  });
  group.go([&] { wrote.after(); });
  if constexpr (kRacy) {
    wrote.after();
    races::use(x);
  }
  group.wait();
  races::use(x);
}

// done() comes before wait(), add() before nothing.
RACE(positive_add_orders_nothing) {
  vole::wait_group group;
  SHARED(x);
  step added;
  group.add();
  if constexpr (!kRacy) group.add();
  both(
      [&] {
        x = 1;
        kRacy ? group.add() : group.done();
        added.now();
      },
      [&] {
        added.after();
        if constexpr (kRacy) {
          group.done();
        } else {
          group.done();
          group.wait();
        }
        ++x;
      });
  if constexpr (kRacy) group.done();
  group.wait();
}

RACE(shared_mutex_written_by_readers) {
  vole::shared_mutex m;
  SHARED(x);
  auto add = [&] {
    for (int i = 0; i < 5; ++i) {
      if constexpr (kRacy) {
        const std::shared_lock hold(m);
        ++x;
      } else {
        const std::unique_lock hold(m);
        ++x;
      }
      vole::yield();
    }
  };
  both(add, add);
}

RACE(shared_mutex) {
  vole::shared_mutex m;
  SHARED(x);
  SHARED(seen);
  vole::mutex n;
  vole::wait_group over;
  for (int i = 0; i < 3; ++i)
    over.go([&] {
      for (int k = 0; k < 20; ++k) {
        {
          const std::unique_lock hold(m);
          ++x;
        }
        vole::yield();
        int now = 0;
        {
          std::shared_lock hold(m, std::defer_lock);
          if constexpr (!kRacy) hold.lock();
          now = x;
        }
        const std::lock_guard hold(n);
        seen += now;
      }
    });
  over.wait();
}

RACE(condition_variable) {
  step wrote;
  vole::mutex m;
  vole::condition_variable changed;
  bool ready = false;
  SHARED(x);
  both(
      [&] {
        std::unique_lock hold(m);
        if constexpr (!kRacy) x = 1;
        ready = true;
        hold.unlock();
        changed.notify_one();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        std::unique_lock hold(m);
        changed.wait(hold, [&] { return ready; });
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(semaphore_as_mutex) {
  vole::semaphore s(kRacy ? 2 : 1);
  std::atomic<bool> inside{false};
  step first, second;
  SHARED(x);
  auto add = [&] {
    s.acquire();
    ++x;
    if constexpr (kRacy) {  // both are inside
      (inside.exchange(true, std::memory_order_relaxed) ? second : first).now();
      first.after();
      second.after();
    }
    s.release();
  };
  both(add, add);
}

// A release comes before the acquire that it serves, and not before the next release.
RACE(two_releases) {
  vole::semaphore s(0);
  SHARED(x);
  step released;
  both(
      [&] {
        x = 1;
        s.release();
        released.now();
      },
      [&] {
        released.after();
        if constexpr (kRacy) {
          s.release();
        } else {
          s.acquire();
        }
        ++x;
      });
}

RACE(latch) {
  step wrote;
  vole::latch all(2);
  SHARED(x);
  both(
      [&] {
        if constexpr (!kRacy) x = 1;
        all.count_down();
        if constexpr (kRacy) {
          x = 1;
          wrote.now();
        }
      },
      [&] {
        all.arrive_and_wait();
        if constexpr (kRacy) wrote.after();
        ++x;
      });
}

RACE(barrier) {
  vole::barrier<> all(2);
  alignas(64) int x[32] = {};
  auto body = [&](int mine) {
    for (int i = 0; i < 3; ++i) {
      ++x[16 * mine];
      all.arrive_and_wait();
      races::use(x[16 * (1 - mine)]);
      if constexpr (!kRacy) all.arrive_and_wait();
    }
  };
  both([&] { body(0); }, [&] { body(1); });
}

RACE(once_bypassed) {
  vole::once once;
  SHARED(x);
  auto get = [&] {
    once.call([&] { x = 1; });
    return x;
  };
  in_turn([&] { get(); },
          [&] {
            if constexpr (kRacy) {
              ++x;
            } else {
              races::use(get());
            }
          });
}

RACE(once_value) {
  vole::once_value made([] { return std::make_unique<int>(1); });
  in_turn([&] { races::use(*made()); },
          [&] {
            if constexpr (kRacy) {
              ++*made();
            } else {
              races::use(*made());
            }
          });
}

RACE(group) {
  vole::group g;
  alignas(64) int x[32] = {};
  g.go([&] { ++x[0]; });
  g.go([&] { ++x[kRacy ? 0 : 16]; });
  g.wait();
  races::use(x[0] + x[16]);
}

RACE(group_read_before_wait) {
  vole::group g;
  SHARED(x);
  g.go([&] { ++x; });
  if constexpr (kRacy) ++x;
  g.wait();
  ++x;
}

RACE(singleflight) {
  vole::singleflight<int, std::shared_ptr<int>> flights;
  auto fetch = [&] {
    const std::shared_ptr<int> p = flights.call(1, [] {
      for (int i = 0; i < 20; ++i) vole::yield();
      return std::make_shared<int>(1);
    });
    return p;
  };
  static std::shared_ptr<int> last;
  last = std::make_shared<int>(0);
  both([&] { races::use(*fetch()); }, [&] { races::use(*fetch()); });
  both([p = last] { ++*p; }, [p = last] { kRacy ? ++*p : 0; });
  last.reset();
}

RACE(concurrent_map_of_pointers) {
  step wrote;
  vole::concurrent_map<int, int*> m;
  SHARED(x);
  both(
      [&] {
        if constexpr (!kRacy) ++x;
        m.store(1, &x);
        if constexpr (kRacy) {
          ++x;
          wrote.now();
        }
      },
      [&] {
        std::optional<int*> p;
        while (!(p = m.load(1))) vole::yield();
        if constexpr (kRacy) wrote.after();
        ++**p;
      });
}

}  // namespace
