// Everything at once, while the N-th system call of one kind fails: `faults_child CALL:ERRNO:N`. The
// last line that it prints says how many such calls there were. `faults_child new:0:N`: one thing after
// the other, while the N-th operator new throws; then all of it again, when nothing fails.
//
// Note   a filter of seccomp asks a thread that stands outside of it, for every such call. Threads
//        inherit the filter from the thread that makes them: this one is there before.

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

#include "scenario.h"

namespace {

using namespace std::chrono_literals;

constexpr int kLost = 3, kNoFilter = 77;

struct {
  std::atomic<int> listener{-1};
  std::atomic<int> calls{0};
  std::atomic<bool> counts{false};
  int error = 0, nth = 0;
} faults;

// A wait may end for no reason; a wake-up never fails.
bool may_fail(const seccomp_data& call) {
  if (call.nr != SYS_futex) return true;
  const int command = static_cast<int>(call.args[1]) & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

void answer() {
  while (faults.listener < 0) sched_yield();
  for (;;) {
    seccomp_notif asked{};
    if (ioctl(faults.listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) continue;  // it is gone again
    seccomp_notif_resp said{};
    said.id = asked.id;
    if (faults.counts && may_fail(asked.data) && ++faults.calls == faults.nth) {
      said.error = -faults.error;
    } else {
      said.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    ioctl(faults.listener, SECCOMP_IOCTL_NOTIF_SEND, &said);
  }
}

}  // namespace

#if !defined(VOLE_SANITIZE_ADDRESS) && !defined(VOLE_SANITIZE_THREAD)  // they bring their own
void* operator new(std::size_t bytes) {
  void* const memory = faults.error == 0 && faults.counts && ++faults.calls == faults.nth
                           ? nullptr
                           : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace {

bool filter(unsigned call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog all{4, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &all);
  faults.listener = static_cast<int>(fd);
  return fd >= 0;
}

// An error that is reported is as good as success.
template <class F>
bool attempt(F work) {
  try {
    work();
    return true;
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  return false;
}

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
  const auto try_this = [&](auto work) { failed += attempt(work) ? 0 : 1; };
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
