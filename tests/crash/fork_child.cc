// Programs that fork while a runtime runs, and what they then do in the child.

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "scenario.h"

namespace {

using namespace vole::crash_test;

// Forks; the child calls fn and ends with its result; the parent tells how the child ended.
template <class F>
void fork_and_tell(F fn) {
  const pid_t pid = fork();
  if (pid == 0) _exit(fn());
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) {
    std::printf("child: signal %d\n", WTERMSIG(status));
  } else {
    std::printf("child: exit %d\n", WEXITSTATUS(status));
  }
  std::fflush(stdout);
}

// The parent's runtime still works.
void go_on() {
  vole::wait_group done;
  for (int i = 0; i < 100; ++i) done.go([] { vole::yield(); });
  done.wait();
  say("parent: goes on\n");
}

template <class F>
int on_goroutine(F fn) {
  return vole::run([&] {
    go_on();
    fork_and_tell(fn);
    go_on();
  });
}

template <class F>
int on_thread(F fn) {
  return vole::run([&] {
    go_on();
    std::thread([&] { fork_and_tell(fn); }).join();
    go_on();
  });
}

int say_go() {
  return vole::go([] {}), kAlive;
}
int say_go_with_owner() {
  return vole::go([s = std::string("owned")] {}), kAlive;
}
int say_yield() { return vole::yield(), kAlive; }
int say_wait() {
  static vole::wait_group g;
  g.add(1);
  g.wait();
  return kAlive;
}
int say_run() {
  vole::run([] {});
  return kAlive;
}
int say_dump() { return vole::dump_goroutines(stderr), kAlive; }
int say_stats() { return vole::stats(), kAlive; }
int say_procs() { return vole::set_max_procs(3), kAlive; }
int say_threads() { return vole::set_max_threads(50), kAlive; }
int do_exec() {
  execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
  return 1;
}
int do_exit() { return 5; }
int run_again() {
  return vole::run([] {
    go_on();
    return 6;
  });
}

// The goroutine itself comes to its end in the child.
int returns() {
  static pid_t pid;
  static int status = 0;
  return vole::run([] {
    vole::wait_group done;
    done.go([] { pid = fork(); });
    done.wait();
    waitpid(pid, &status, 0);
    std::printf("child: signal %d\n", WTERMSIG(status));
    go_on();
  });
}

// No runtime runs: the child is as free as any process.
int before_run() { return fork_and_tell(run_again), 0; }
int after_run() {
  vole::run(go_on);
  fork_and_tell(run_again);
  return vole::run(go_on);
}

// Parent and child talk over sockets of their own at the same time, each with its own poller.
int ping_pong() {
  return vole::run([] {
    vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
    vole::net::conn near = vole::net::dial("tcp", l.local_address().to_string(), std::chrono::seconds(20));
    vole::net::conn far = l.accept();
    near.set_deadline(vole::now() + std::chrono::seconds(20));
    far.set_deadline(vole::now() + std::chrono::seconds(20));
    auto echoes = vole::spawn([&] {
      char c[1];
      while (far.read(c) == 1) far.write({c, 1});
    });
    char c[1];
    for (int i = 0; i < 2000; ++i) {
      near.write("x");
      if (near.read(c) != 1) return 1;
    }
    near.close();
    echoes.join();
    return 6;
  });
}
int sockets() {
  const vole::net::listener inherited = vole::net::listen("tcp", "127.0.0.1:0");
  const pid_t pid = fork();
  if (pid == 0) _exit(ping_pong());
  std::printf("parent: exit %d\n", ping_pong());
  int status = 0;
  waitpid(pid, &status, 0);
  std::printf("child: exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 0;
}

int implicit() {
  go_on();
  fork_and_tell(say_go);
  go_on();
  vole::shutdown();
  return 0;
}

template <int (*Fn)()>
int by_goroutine() {
  return on_goroutine(Fn);
}
template <int (*Fn)()>
int by_thread() {
  return on_thread(Fn);
}

constexpr scenario kAll[] = {
    {"goroutine_go", by_goroutine<say_go>},
    {"goroutine_go_owner", by_goroutine<say_go_with_owner>},
    {"goroutine_yield", by_goroutine<say_yield>},
    {"goroutine_wait", by_goroutine<say_wait>},
    {"goroutine_run", by_goroutine<say_run>},
    {"goroutine_dump", by_goroutine<say_dump>},
    {"goroutine_stats", by_goroutine<say_stats>},
    {"goroutine_procs", by_goroutine<say_procs>},
    {"goroutine_threads", by_goroutine<say_threads>},
    {"goroutine_exec", by_goroutine<do_exec>},
    {"goroutine_exit", by_goroutine<do_exit>},
    {"goroutine_returns", returns},
    {"sockets", sockets},
    {"thread_go", by_thread<say_go>},
    {"thread_go_owner", by_thread<say_go_with_owner>},
    {"thread_wait", by_thread<say_wait>},
    {"thread_run", by_thread<say_run>},
    {"thread_dump", by_thread<say_dump>},
    {"thread_stats", by_thread<say_stats>},
    {"thread_procs", by_thread<say_procs>},
    {"thread_threads", by_thread<say_threads>},
    {"thread_exec", by_thread<do_exec>},
    {"thread_exit", by_thread<do_exit>},
    {"before_run", before_run},
    {"after_run", after_run},
    {"implicit", implicit},
};

}  // namespace

int main(int argc, char** argv) { return play(kAll, argc, argv); }
