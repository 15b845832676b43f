// Everything at once, while the N-th system call of one kind fails: `faults_child CALL:ERRNO:N`. The
// last line that it prints says how many such calls there were. `faults_child new:0:N`: one thing after
// the other, while the N-th operator new throws; then all of it again, when nothing fails.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

#include "injector.h"
#include "scenario.h"

using namespace vole::crash_test;      // NOLINT
using namespace std::chrono_literals;  // NOLINT

#if !defined(VOLE_SANITIZE_ADDRESS) && !defined(VOLE_SANITIZE_THREAD)  // they bring their own
static bool fails_now() {
  return faults.error == 0 && faults.counts && ++faults.calls == faults.nth;
}

void* operator new(std::size_t bytes) {
  void* const memory = fails_now() ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  void* const memory = fails_now() ? nullptr : std::aligned_alloc(a, (bytes + a - 1) / a * a);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
#endif

namespace {

void talk(vole::net::conn c, bool begins) {
  char text[4] = {};
  c.set_deadline(vole::now() + 5s);
  for (int i = 0; i < 3; ++i) {
    if (begins) c.write("ping");
    if (c.read_full(text) < sizeof text) return;
    if (!begins) c.write("pong");
  }
}

void network() {
  vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
  l.set_deadline(vole::now() + 5s);
  vole::wait_group served;
  served.go([&] { attempt([&] { talk(l.accept(), false); }); });
  attempt([&] { talk(vole::net::dial("tcp", l.local_address().to_string(), 5s), true); });
  attempt([&] { l.close(); });
  served.wait();
}

void files() {
  const std::string path = "/tmp/vole_faults." + std::to_string(getpid());
  attempt([&] {
    vole::file f = vole::file::open(path, "w+");
    f.write("some text");
    f.sync();
    f.close();
  });
  unlink(path.c_str());
}

void pipes() {
  int ends[2];
  if (pipe(ends) != 0) return;
  vole::wait_group waited;
  waited.go([&] { attempt([&] { vole::wait_readable(ends[0], vole::now() + 5s); }); });
  vole::yield();
  while (write(ends[1], "x", 1) != 1) {  // the fault may be ours
  }
  waited.wait();
  close(ends[0]);
  close(ends[1]);
}

void channels() {
  vole::chan<int> c(4);
  vole::mutex m;
  int sum = 0;
  vole::wait_group all;
  for (int i = 0; i < 8; ++i)
    all.go([&, i] {
      vole::sleep_for(std::chrono::microseconds(100 * i));
      c.send(i);
    });
  for (int i = 0; i < 4; ++i)
    all.go([&] {
      for (int k = 0; k < 2; ++k) {
        const int got = c.recv().value_or(0);
        const std::lock_guard hold(m);
        sum += got;
      }
    });
  all.wait();
  if (sum != 28) std::_Exit(kLost);
}

int work() {
  std::atomic<int> ended{0};
  constexpr int kKinds = 6;
  vole::wait_group all;
  const auto start = [&](void (*kind)()) {
    all.go([&ended, kind] {
      attempt(kind);
      ++ended;
    });
  };
  start(network);
  start(files);
  start(pipes);
  start(channels);
  start([] { vole::blocking([] { usleep(300); }); });
  start([] {
    std::thread plain([] { attempt([] { vole::spawn([] { vole::yield(); }).join(); }); });
    plain.join();
  });
  vole::set_max_procs(1);
  vole::set_max_procs(3);
  all.wait();
  return ended == kKinds ? 0 : kLost;
}

// Each by itself, so that one that fails leaves nothing that others wait for. How many failed.
int one_after_the_other() {
  int failed = 0;
  const auto try_this = [&](const auto& work) { failed += attempt(work) ? 0 : 1; };
  try_this([] {
    if (vole::spawn([text = std::string(100, 'x')] { return text; }).join().size() != 100)
      std::_Exit(kLost);
  });
  try_this([] {
    const vole::chan<std::string> c(2);
    c.send(std::string(100, 'x'));
    if (c.recv()->size() != 100) std::_Exit(kLost);
  });
  try_this([] {
    const vole::cancelable k = vole::with_timeout(vole::context::background(), 1ms);
    vole::semaphore none(0);
    std::error_code why;
    if (none.acquire(k.ctx, why)) std::_Exit(kLost);
  });
  try_this([] {
    vole::timer t(1ms);
    (void)t.channel().recv();
  });
  try_this([] {
    vole::group g;
    g.go([] { vole::yield(); });
    g.wait();
  });
  try_this([] {
    const vole::chan<int> c;
    vole::select(on_recv(c), vole::on_after(1ms));
  });
  try_this([] {
    vole::pool<std::string> p([] { return std::string(100, 'x'); });
    p.put(p.get());
  });
  try_this([] {
    vole::spawn([] {
      static vole::local<std::string> own;
      own->assign(100, 'x');
    }).join();
  });
  try_this([] {
    vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
    vole::net::conn from = vole::net::dial("tcp", l.local_address().to_string(), 5s);
    vole::net::conn to = l.accept();
    from.write("x");
    char text[1];
    if (to.read(text) != 1) std::_Exit(kLost);
  });
  struct alignas(64) wide {
    int n = 1;
  };
  try_this([] {
    const vole::chan<wide> c(2);
    c.send({});
    if (c.recv()->n != 1) std::_Exit(kLost);
  });
  try_this([w = wide{}] {
    if (vole::spawn([w] { return w.n; }).join() != 1) std::_Exit(kLost);
    vole::spawn([w] {
      static vole::local<wide> own;
      own->n += w.n;
    }).join();
  });
  try_this(files);
  return failed;
}

int all_twice() {
  one_after_the_other();
  faults.counts = false;
  return one_after_the_other() == 0 ? 0 : kLost;
}

}  // namespace

int main(int, char** argv) {
  unsigned call = 0;
  const bool memory = std::sscanf(argv[1], "new:0:%d", &faults.nth) == 1;
  if (memory) {
    faults.counts = true;
    int status = 0;
    attempt([&] { status = vole::run(all_twice); });
    faults.counts = false;
    std::printf("calls %d\n", faults.calls.load());
    std::fflush(stdout);
    std::_Exit(status);
  }
  if (std::sscanf(argv[1], "%u:%d:%d", &call, &faults.error, &faults.nth) != 3) return 99;
  alarm(60);
  std::thread(answer).detach();
  if (!filter(call)) return kNoFilter;
  faults.counts = true;
  int status = 0;
  attempt([&] { status = vole::run(work); });
  attempt([] { vole::shutdown(); });
  faults.counts = false;
  std::printf("calls %d\n", faults.calls.load());
  std::fflush(stdout);
  std::_Exit(status);
}
