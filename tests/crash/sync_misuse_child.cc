// What mutexes, condition variables, semaphores, once and channels do not forgive.

#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

template <class F>
int on_main(F fn) {
  return vole::run([&] {
    fn();
    return kAlive;
  });
}

// ── unlocking what is not locked ──

int mutex_unlock() {
  return on_main([] { vole::mutex().unlock(); });
}
int mutex_unlock_on_thread() {
  vole::mutex().unlock();
  return kAlive;
}
int mutex_unlock_twice() {
  return on_main([] {
    vole::mutex m;
    m.lock();
    m.unlock();
    m.unlock();
  });
}
int shared_unlock() {
  return on_main([] { vole::shared_mutex().unlock(); });
}
int shared_unlock_shared() {
  return on_main([] { vole::shared_mutex().unlock_shared(); });
}
int shared_unlock_of_reader() {
  return on_main([] {
    vole::shared_mutex m;
    m.lock_shared();
    m.unlock();
  });
}
int shared_unlock_shared_of_writer() {
  return on_main([] {
    vole::shared_mutex m;
    m.lock();
    m.unlock_shared();
  });
}

// ── waiting for oneself ──

int mutex_recursive() {
  return on_main([] {
    vole::mutex m;
    m.lock();
    m.lock();
  });
}
int shared_recursive() {
  return on_main([] {
    vole::shared_mutex m;
    m.lock();
    m.lock_shared();
  });
}
int shared_upgrade() {
  return on_main([] {
    vole::shared_mutex m;
    m.lock_shared();
    m.lock();
  });
}
int shared_again_behind_a_writer() {
  return on_main([] {
    vole::shared_mutex m;
    m.lock_shared();
    vole::go({.name = "writer"}, [&] { m.lock(); });
    until_dump_has("(writer) [waiting, shared mutex (write)");
    m.lock_shared();
  });
}
int once_recursive() {
  return on_main([] {
    vole::once o;
    o.call([&] { o.call([] {}); });
  });
}
int semaphore_too_much() {
  return on_main([] {
    vole::semaphore s(2);
    s.acquire(3);
  });
}
int latch_overrun() {
  return on_main([] {
    vole::latch l(2);
    l.count_down(3);
  });
}
int barrier_overrun() {
  return on_main([] {
    vole::barrier b(2);
    (void)b.arrive(3);
  });
}

// ── condition_variable ──

int condition_two_mutexes() {
  return on_main([] {
    vole::condition_variable c;
    vole::mutex a, b;
    vole::go({.name = "other"}, [&] {
      std::unique_lock lock(a);
      c.wait(lock);
    });
    until_dump_has("(other) [waiting, condition variable");
    std::unique_lock lock(b);
    c.wait_for(lock, std::chrono::hours(1));
  });
}
int condition_without_lock() {
  return on_main([] {
    vole::mutex m;
    std::unique_lock lock(m, std::defer_lock);
    vole::condition_variable().wait_for(lock, std::chrono::hours(1));
  });
}

// ── destroyed under a waiter ──

template <class Object, class Wait>
int destroyed(const char* why, Object* object, Wait wait) {
  return on_main([&] {
    vole::go({.name = "waiter"}, [&] { wait(*object); });
    until_dump_has((std::string("(waiter) [waiting, ") + why).c_str());
    delete object;
  });
}
int mutex_destroyed() {
  return destroyed("mutex", new vole::mutex, [](vole::mutex& m) {
    m.lock();
    m.lock();
  });
}
int shared_destroyed() {
  return destroyed("shared mutex", new vole::shared_mutex, [](vole::shared_mutex& m) {
    m.lock_shared();
    m.lock();
  });
}
int semaphore_destroyed() {
  return destroyed("semaphore", new vole::semaphore(0), [](vole::semaphore& s) { s.acquire(); });
}
int latch_destroyed() {
  return destroyed("latch", new vole::latch(1), [](vole::latch& l) { l.wait(); });
}
int barrier_destroyed() {
  return destroyed("barrier", new vole::barrier<>(2),
                   [](vole::barrier<>& b) { b.arrive_and_wait(); });
}
int condition_destroyed() {
  return destroyed("condition variable", new vole::condition_variable,
                   [](vole::condition_variable& c) {
                     static vole::mutex m;
                     std::unique_lock lock(m);
                     c.wait(lock);
                   });
}
int timed_condition_destroyed() {
  return destroyed("condition variable", new vole::condition_variable,
                   [](vole::condition_variable& c) {
                     static vole::mutex m;
                     std::unique_lock lock(m);
                     c.wait_for(lock, std::chrono::hours(1));
                   });
}

int once_destroyed() {
  return destroyed("once", new vole::once, [](vole::once& o) {
    vole::go({.name = "runs"}, [&o] {
      o.call([] { vole::chan<int>(nullptr).recv(); });
    });
    until_dump_has("(runs) [waiting, chan receive");
    o.call([] {});
  });
}

// Nobody can wait for what is destroyed by exit(): there it is all over.
vole::mutex at_exit;
int exit_while_waiting() {
  static vole::semaphore none(0);
  return on_main([] {
    at_exit.lock();
    vole::go({.name = "first"}, [] { at_exit.lock(); });
    vole::go({.name = "second"}, [] { none.acquire(); });
    until_dump_has("(first) [waiting, mutex");
    until_dump_has("(second) [waiting, semaphore");
    std::exit(3);
  });
}

// ── a channel ──

int send_on_closed() {
  return vole::run([] {
    const vole::chan<int> c;
    c.close();
    vole::go({.name = "late"}, [c] { c.send(1); });
    vole::chan<int>(nullptr).recv();
  });
}

[[gnu::noinline]] void explode() { throw std::runtime_error("boom"); }

// Throws when it has been moved so many times.
template <bool Noexcept>
struct bomb {
  explicit bomb(int moves) : left(moves) {}
  bomb(bomb&& other) noexcept(Noexcept) : left(other.left - 1) {
    if (left == 0) explode();
  }
  int left;
};
using boxed = bomb<false>;  // travels in a box
using itself = bomb<true>;  // says that it does not throw, and lies

int boxed_send() {
  return on_main([] { vole::chan<boxed>(1).send(boxed(1)); });
}
int boxed_send_on_thread() {
  vole::chan<boxed>(1).send(boxed(1));
  return kAlive;
}
int boxed_recv() {
  return on_main([] {
    const vole::chan<boxed> c(1);
    c.send(boxed(2));
    c.recv();
  });
}
int boxed_given_back() {
  return on_main([] { (void)vole::chan<boxed>().try_send(boxed(2)); });
}
int boxed_select() {
  return on_main([] { vole::select(vole::on_send(vole::chan<boxed>(1), boxed(1))); });
}
int itself_send() {
  return on_main([] { vole::chan<itself>(1).send(itself(1)); });
}
int itself_recv() {
  return on_main([] {
    const vole::chan<itself> c(1);
    c.send(itself(2));
    c.recv();
  });
}

constexpr scenario kAll[] = {
    {"mutex_unlock", mutex_unlock},
    {"mutex_unlock_on_thread", mutex_unlock_on_thread},
    {"mutex_unlock_twice", mutex_unlock_twice},
    {"shared_unlock", shared_unlock},
    {"shared_unlock_shared", shared_unlock_shared},
    {"shared_unlock_of_reader", shared_unlock_of_reader},
    {"shared_unlock_shared_of_writer", shared_unlock_shared_of_writer},
    {"mutex_recursive", mutex_recursive},
    {"shared_recursive", shared_recursive},
    {"shared_upgrade", shared_upgrade},
    {"shared_again_behind_a_writer", shared_again_behind_a_writer},
    {"once_recursive", once_recursive},
    {"semaphore_too_much", semaphore_too_much},
    {"condition_two_mutexes", condition_two_mutexes},
    {"condition_without_lock", condition_without_lock},
    {"mutex_destroyed", mutex_destroyed},
    {"shared_destroyed", shared_destroyed},
    {"semaphore_destroyed", semaphore_destroyed},
    {"latch_overrun", latch_overrun},
    {"barrier_overrun", barrier_overrun},
    {"latch_destroyed", latch_destroyed},
    {"barrier_destroyed", barrier_destroyed},
    {"condition_destroyed", condition_destroyed},
    {"timed_condition_destroyed", timed_condition_destroyed},
    {"once_destroyed", once_destroyed},
    {"exit_while_waiting", exit_while_waiting},
    {"send_on_closed", send_on_closed},
    {"boxed_send", boxed_send},
    {"boxed_send_on_thread", boxed_send_on_thread},
    {"boxed_recv", boxed_recv},
    {"boxed_given_back", boxed_given_back},
    {"boxed_select", boxed_select},
    {"itself_send", itself_send},
    {"itself_recv", itself_recv},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
