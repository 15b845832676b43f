// Programs for the tests of the control socket and of traces: control_child
// spin|idle|talk|restart|deadlock. Each prints its number once it runs, and goes on until its input
// ends, but for `deadlock` and `talk`.
#include <unistd.h>
#include <vole/vole.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace {

std::atomic<bool> over{false};

void say_ready() {
  std::printf("%d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
}

void wait_for_end() {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  over = true;
}

// Every P is in a loop that calls nothing.
void spin() {
  vole::wait_group all;
  for (int i = 0; i < vole::max_procs(); ++i) {
    all.go([] {
      while (!over.load(std::memory_order_relaxed)) {
      }
    });
  }
  vole::blocking([] {
    say_ready();
    wait_for_end();
  });
  all.wait();
}

void idle() {
  vole::go({.name = "parked"}, [] { vole::chan<int>().recv(); });
  vole::chan<int> a, b;
  vole::go({.name = "echo"}, [a, b] {
    for (const int x : a) b.send(x);
  });
  vole::go([a, b] {
    for (int i = 0; !over.load(std::memory_order_relaxed); ++i) {
      a.send(i);
      b.recv();
      vole::sleep_for(std::chrono::microseconds(200));
    }
  });
  vole::blocking([] {
    say_ready();
    wait_for_end();
  });
}

// Of everything a little: channels, a mutex, calls, sleeps, yields, goroutines that come and go.
void talk() {
  vole::mutex m;
  int sum = 0;
  vole::wait_group all;
  for (int i = 0; i < 20; ++i) {
    all.go([&] {
      for (int k = 0; k < 50; ++k) {
        {
          const std::lock_guard hold(m);
          ++sum;
          if (k % 10 == 0) vole::yield();
        }
        vole::chan<int> answer;
        vole::go([=] { answer.send(k); });
        answer.recv();
        if (k % 10 == 5) vole::blocking([] { usleep(200); });
        if (k % 10 == 7) vole::sleep_for(std::chrono::microseconds(50));
      }
    });
  }
  all.wait();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "restart") == 0) {
    for (int i = 0; i < 20; ++i) vole::run([] {});
    say_ready();
    wait_for_end();
    return 0;
  }
  return vole::run([&] {
    if (std::strcmp(argv[1], "spin") == 0) spin();
    if (std::strcmp(argv[1], "idle") == 0) idle();
    if (std::strcmp(argv[1], "talk") == 0) talk();
    if (std::strcmp(argv[1], "deadlock") == 0) vole::chan<int>().recv();
  });
}
